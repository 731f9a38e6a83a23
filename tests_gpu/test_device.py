"""Devices that are not there, and words that name none."""

import pytest
import torch

import semibandit as sb
from semibandit.errors import DeviceError, InputError
from semibandit.models.gpu.device import find_device
from semibandit.models.gpu.functions import uses_triton


def test_no_cuda_device(monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="'cuda', but torch finds no CUDA device"):
        sb.SlateUCB(3, 4, model=sb.Full(device="cuda"))


def test_a_torch_without_cuda(monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: False)
    with pytest.raises(DeviceError, match=r"was built without CUDA: .*semibandit\[gpu\]"):
        find_device("cuda")


def test_a_number_beyond_those_there_are(monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(DeviceError, match="'cuda:2', but this machine has cuda:0, cuda:1 alone"):
        find_device("cuda:2")
    assert find_device("cuda:1") == torch.device("cuda", 1)


@pytest.mark.parametrize("word", ["gpu", "cuda:", "cuda:x", "cpu:0", "", 0])
def test_unknown_words(word):
    with pytest.raises(InputError, match=r"device = .* must be 'cpu', 'cuda' or 'cuda:1'"):
        sb.Full(device=word)


def test_triton_is_for_gpus_and_for_its_interpreter(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert not uses_triton(torch.device("cpu"))
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert uses_triton(torch.device("cpu"))
