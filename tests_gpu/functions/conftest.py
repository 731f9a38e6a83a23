"""Without a GPU the Triton functions run under Triton's interpreter, in a process of their own."""

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
