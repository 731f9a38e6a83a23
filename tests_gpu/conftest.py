"""Tests of `Full(device=...)`, for `make test-gpu`: on the CPU, and on the GPU if there is one."""

import pytest
import torch

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)
