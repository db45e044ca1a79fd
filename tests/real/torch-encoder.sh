#!/usr/bin/env bash
# PyTorch: a transformer encoder that serves inputs of varying length and batch on four threads, see torch_serve.py.
# shellcheck source-path=SCRIPTDIR source=torch.bash
. "$(dirname "$0")/torch.bash"
