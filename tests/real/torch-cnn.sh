#!/usr/bin/env bash
# PyTorch: a convolutional network over images of varying size on four threads, see torch_serve.py.
# shellcheck source-path=SCRIPTDIR source=torch.bash
. "$(dirname "$0")/torch.bash"
