#!/usr/bin/env bash
# PyTorch: four threads that decode with a KV cache which grows by torch.cat, see torch_serve.py.
# shellcheck source-path=SCRIPTDIR source=torch.bash
. "$(dirname "$0")/torch.bash"
