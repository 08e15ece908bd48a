"""Takes a CPU libtorch out of Python wheels: extract.py OUT WHEEL...

The wheel of torch for Linux is a CUDA build. Its CPU half works alone when it finds the two small
CUDA libraries that it names, which come in wheels of their own.

Prints "total BYTES" once, then "done BYTES" as it goes. Every file is checked against the sum that
its wheel records and is on the disk when this ends.
"""

import base64
import csv
import ctypes
import hashlib
import io
import os
import sys
import zipfile

# The half of torch/lib that needs a GPU or Python. libtorch.so is here because it loads the GPU half.
NOT_FOR_CPU = (
    "libtorch.so",
    "libtorch_cuda",
    "libtorch_python",
    "libtorch_nvshmem",
    "libtorch_global_deps",
    "libc10_cuda",
    "libcaffe2_nvrtc",
    "libshm",
)
CUDA_RUNTIME = ("libcudart.so.", "libcupti.so.")
# What stands for a library: linkers read a text file of this form in its place.
LINKER_SCRIPTS = {"libtorch.so": "libtorch_cpu.so", "libgomp.so": "libgomp.so.1"}


def place(name):
    """Where a file of a wheel goes, relative to OUT; None for a file that is not needed."""
    folder, _, file = name.rpartition("/")
    if not file:
        return None
    if folder == "torch/include" or folder.startswith("torch/include/"):
        return name[len("torch/") :]
    if folder == "torch/lib" and ".so" in file and not file.startswith(NOT_FOR_CPU):
        return "lib/" + file
    if folder.startswith("nvidia/") and file.startswith(CUDA_RUNTIME):
        return "lib/" + file
    return None


def recorded_sums(wheel):
    """The SHA-256 of each file, as the wheel's RECORD writes it."""
    (record,) = [n for n in wheel.namelist() if n.endswith(".dist-info/RECORD")]
    rows = csv.reader(io.StringIO(wheel.read(record).decode("utf-8")))
    return {row[0]: row[1] for row in rows if len(row) > 1}


def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def version(wheel):
    for line in wheel.read("torch/version.py").decode("utf-8").splitlines():
        if line.startswith("__version__"):
            return line.split("'")[1].split("+")[0]
    sys.exit("torch/version.py names no version")


def main(out, paths):
    wheels = [zipfile.ZipFile(path) for path in paths]
    wanted = [
        (wheel, info, place(info.filename))
        for wheel in wheels
        for info in wheel.infolist()
        if place(info.filename)
    ]
    print("total", sum(info.file_size for _, info, _ in wanted), flush=True)
    sums = {id(wheel): recorded_sums(wheel) for wheel in wheels}
    done = printed = 0
    for wheel, info, where in wanted:
        target = os.path.join(out, where)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        digest = hashlib.sha256()
        with wheel.open(info) as source, open(target, "wb") as sink:
            while True:
                block = source.read(1 << 20)
                if not block:
                    break
                digest.update(block)
                sink.write(block)
                done += len(block)
                if done - printed >= 1 << 22:
                    printed = done
                    print("done", done, flush=True)
        encoded = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode("ascii")
        if sums[id(wheel)].get(info.filename) != "sha256=" + encoded:
            sys.exit("%s does not have the SHA-256 that its package records" % info.filename)
    lib = os.path.join(out, "lib")
    for name, behind in LINKER_SCRIPTS.items():
        if os.path.exists(os.path.join(lib, behind)):
            with open(os.path.join(lib, name), "w") as sink:
                sink.write("INPUT(%s)\n" % behind)
    torch = [wheel for wheel in wheels if "torch/version.py" in wheel.namelist()][0]
    with open(os.path.join(out, "build-version"), "w") as sink:
        sink.write(version(torch) + "\n")
    print("done", done, flush=True)
    # The proof that it is whole: the loader finds every library that it names.
    ctypes.CDLL(os.path.join(lib, "libtorch_cpu.so"))
    for folder, _, files in os.walk(out):
        for file in files:
            sync(os.path.join(folder, file))
        sync(folder)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except (OSError, zipfile.BadZipFile) as error:
        sys.exit(str(error))
