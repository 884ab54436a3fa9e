"""Makes the wheel: the package, the C library and the command line, which are built already. A backend of pip's (PEP 517) that needs nothing installed.

MELDSIM_LIBRARY names libmeldsim_study.so and MELDSIM_PROGRAM meldsim, else they are those of native-sim/target/release; MELDSIM_THIRD_PARTY a file with the licences of
what is linked in. The same files give the same bytes.
"""

import base64
import hashlib
import os
import re
import struct
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of an ELF file


def _project(key):
    return re.search(rf'^{key} = "(.*)"', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)


def _built(variable, name, crate):
    path = Path(os.environ.get(variable, HERE.parent / "target/release" / name))
    if not path.is_file():
        raise SystemExit(f"no {path}: cargo build --release -p {crate} in native-sim makes it, or {variable} names one")
    return path.read_bytes()


def _platform(library, program):
    """manylinux by what is in the wheel: its machine, and the newest glibc whose symbols it takes."""
    machine = MACHINES[struct.unpack_from("<H", library, 18)[0]]
    versions = [(int(a), int(b)) for a, b in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[.\0])", library + program)]
    return "manylinux_{}_{}_{}".format(*max(versions), machine)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = _built("MELDSIM_LIBRARY", "libmeldsim_study.so", "libmeldsim-study")
    program = _built("MELDSIM_PROGRAM", "meldsim", "meldsim-cli")
    tag = f"py3-none-{_platform(library, program)}"
    stem = f"meldsim-{_project('version')}"
    info = f"{stem}.dist-info"
    files = {f"meldsim/{p.name}": p.read_bytes() for p in sorted((HERE / "meldsim").iterdir()) if p.suffix in (".py", ".typed")}
    files["meldsim/libmeldsim_study.so"] = library
    files[f"{stem}.data/scripts/meldsim"] = program
    licences = [HERE.parents[1] / "LICENSE", HERE.parents[1] / "NOTICE"]
    if "MELDSIM_THIRD_PARTY" in os.environ:
        licences.append(Path(os.environ["MELDSIM_THIRD_PARTY"]))
    for licence in licences:
        files[f"{info}/licenses/{licence.name}"] = licence.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: meldsim\nVersion: {_project('version')}\nSummary: {_project('description')}\n"
        f"License: {_project('license')}\nRequires-Python: {_project('requires-python')}\n"
    ).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: meldsim\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, data in files.items()}
    record = [f"{name},sha256={digests[name]},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")))[:6]
    name = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for entry, data in files.items():
            member = zipfile.ZipInfo(entry, when)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if "/scripts/" in entry else 0o100644) << 16
            wheel.writestr(member, data)
    return name


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
