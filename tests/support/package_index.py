"""A package index on loopback, that can misbehave in the ways that real ones do."""

import hashlib
import io
import tarfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from old_pickle import member

from semibandit.data.catalogue import CatalogueEntry, Member, SourcePackage

PACKAGE = "scikit-multilearn"
FILENAME = "scikit-multilearn-0.0.1.tar.gz"


def small_package(seed=0):
    """An archive of the real one's form with two small sets in it, and the SourcePackage for it."""
    random = np.random.default_rng(seed)
    contents, sets = {}, []
    for name, d, K in (("mediamill", 4, 3), ("corel5k", 9, 5)):
        spelled = {"corel5k": "Corel5k"}.get(name, name)
        members, rows = [], (6, 4)
        Y_all = []
        for part, n in zip(("train", "test"), rows, strict=True):
            X = random.standard_normal((n, d))
            if name == "corel5k":
                X = (X > 1.2).astype(np.int64)
                X[:, 0] = 1
            Y = random.integers(0, 2, (n, K))
            Y_all.append(Y)
            path = f"skmultilearn/data/{spelled}-{part}.dump.bz2"
            contents[path] = member(X, Y)
            members.append(Member(path, hashlib.sha256(contents[path]).hexdigest()))
        cardinality = float(np.concatenate(Y_all).sum(axis=1).mean())
        sets.append(
            CatalogueEntry(name, "noise", *rows, d, K, cardinality, cardinality / K, *members)
        )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, content in contents.items():
            entry = tarfile.TarInfo(f"scikit-multilearn-0.0.1/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    archive = buffer.getvalue()
    digest = hashlib.sha256(archive).hexdigest()
    return archive, SourcePackage(PACKAGE, "0.0.1", FILENAME, digest, tuple(sets)), contents


def files(folder):
    """The names of the files in a cache, but for the locks."""
    return sorted(p.name for p in folder.iterdir() if not p.name.endswith(".lock"))


@dataclass
class Index:
    """What the server serves, how it behaves, and what it was asked."""

    content: bytes
    ranges: bool = True
    cuts: list = field(default_factory=list)  # after how many bytes each answer breaks; None: never
    status: int = 200
    has_package: bool = True
    asked: list = field(default_factory=list)  # the Range of each request for the file
    url: str = ""


@contextmanager
def serving(content: bytes):
    index = Index(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == f"/simple/{PACKAGE}/" and index.has_package:
                page = f'<a href="/files/{FILENAME}">{FILENAME}</a>'.encode()
                self.answer(200, page, {"Content-Type": "text/html"})
            elif self.path == f"/files/{FILENAME}":
                self.file()
            else:
                self.answer(404, b"no such page", {"Content-Type": "text/html"})

        def file(self):
            asked = self.headers.get("Range")
            index.asked.append(asked)
            if index.status != 200:
                return self.answer(index.status, b"", {})
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and index.ranges else 0
            size = len(index.content)
            if start >= size:
                return self.answer(416, b"", {"Content-Range": f"bytes */{size}"})
            where = {"Content-Range": f"bytes {start}-{size - 1}/{size}"} if start else {}
            cut = index.cuts.pop(0) if index.cuts else None
            return self.answer(206 if start else 200, index.content[start:], where, cut)

        def answer(self, status, content, headers, cut=None):
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content if cut is None else content[:cut])
            self.close_connection = True

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_port}/simple/"
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
