"""perf_data.py - writes a perf.data of memory samples, as perf record -d does."""
import random
import struct

MAGIC, HEADER, ATTR = b"PERFILE2", 104, 128
RAW, MEM_LOADS = 4, 0x1cd
IP, TID, TIME, ADDR, CPU, PERIOD, DATA_SRC = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 7, 1 << 8, 1 << 15
SAMPLE_TYPE = IP | TID | TIME | ADDR | CPU | PERIOD | DATA_SRC
MMAP2, SAMPLE, COMM = 10, 9, 3
USER = 2
LOAD, STORE = 0x68100142, 0x68100184
SAMPLE_BYTES = 64
SAMPLE_ID_ALL, PRECISE_2 = 1 << 18, 2 << 15


def attr():
    """struct perf_event_attr, version 7, and the (empty) section of its ids."""
    fields = struct.pack("<IIQQQQQ", RAW, ATTR, MEM_LOADS, 4000, SAMPLE_TYPE, 0, SAMPLE_ID_ALL | PRECISE_2)
    return fields.ljust(ATTR, b"\0") + struct.pack("<QQ", 0, 0)


def record(kind, body):
    return struct.pack("<IHH", kind, USER, 8 + len(body)) + body


def padded(text):
    data = text.encode() + b"\0"
    return data.ljust(-(-len(data) // 8) * 8, b"\0")


def id_of(pid, time, cpu):
    """What SAMPLE_ID_ALL puts behind records that are no samples."""
    return struct.pack("<IIQII", pid, pid, time, cpu, 0)


def write(path, program, accesses, objects, nr, seed=1):
    """nr samples: each is one of accesses (ip, offset, is_store) to one of objects (addresses)."""
    dice = random.Random(seed)
    head = record(COMM, struct.pack("<II", 500, 500) + padded("server") + id_of(500, 0, 0))
    head += record(MMAP2, struct.pack("<IIQQQIIQQII", 500, 500, 0x400000, 0x100000, 0, 8, 1, 77, 0, 5, 2) +
                   padded(program) + id_of(500, 0, 0))
    samples = bytearray()
    for i in range(nr):
        cpu = dice.randrange(8)
        ip, offset, is_store = dice.choice(accesses)
        samples += struct.pack("<IHHQIIQQIIQQ", SAMPLE, USER, SAMPLE_BYTES, ip, 500, 501 + cpu, 1000 + i,
                               dice.choice(objects) + offset, cpu, 0, 4000, STORE if is_store else LOAD)
    data = head + samples
    section = struct.pack("<QQ", HEADER, ATTR + 16), struct.pack("<QQ", HEADER + ATTR + 16, len(data))
    with open(path, "wb") as f:
        f.write(MAGIC + struct.pack("<QQ", HEADER, ATTR + 16) + section[0] + section[1] + struct.pack("<QQ", 0, 0) +
                bytes(32) + attr() + data)


def write_kernel(path, text, size, accesses):
    """One sample without a data address for each of accesses (ip, is_store), in a kernel whose _text is at text."""
    kernel = 1
    kind = IP | TID | TIME | CPU | PERIOD
    name = padded("[kernel.kallsyms]_text")
    body = struct.pack("<IIQQQ", 0xffffffff, 0, text, size, text) + name + id_of(0, 0, 0)
    data = bytearray(struct.pack("<IHH", 1, kernel, 8 + len(body)) + body)
    data += record(COMM, struct.pack("<II", 500, 500) + padded("server") + id_of(500, 0, 0))
    for i, (ip, is_store) in enumerate(accesses):
        body = struct.pack("<QIIQIIQ", ip, 500, 500, 1000 + i, 0, 0, 1)
        data += struct.pack("<IHH", SAMPLE, kernel, 8 + len(body)) + body
    fields = struct.pack("<IIQQQQQ", RAW, ATTR, MEM_LOADS, 4000, kind, 0, SAMPLE_ID_ALL | PRECISE_2)
    section = struct.pack("<QQ", HEADER, ATTR + 16), struct.pack("<QQ", HEADER + ATTR + 16, len(data))
    with open(path, "wb") as f:
        f.write(MAGIC + struct.pack("<QQ", HEADER, ATTR + 16) + section[0] + section[1] + struct.pack("<QQ", 0, 0) +
                bytes(32) + fields.ljust(ATTR, b"\0") + struct.pack("<QQ", 0, 0) + bytes(data))
