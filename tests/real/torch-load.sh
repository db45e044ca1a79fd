#!/usr/bin/env bash
# PyTorch: a model of 310 MB, loaded and dropped three times, see torch_serve.py.
# shellcheck source-path=SCRIPTDIR source=torch.bash
. "$(dirname "$0")/torch.bash"
