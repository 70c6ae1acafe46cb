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
