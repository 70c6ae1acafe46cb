import sys
data = bytearray(open(sys.argv[1], "rb").read())
name = data.index(b"/usr/local/bin/fs\0")
data[name - 67] |= 0x40  # PERF_RECORD_MISC_MMAP_BUILD_ID
data[name - 32:name - 8] = bytes([20, 0, 0, 0]) + bytes.fromhex("22" * 20)
open(sys.argv[2], "wb").write(data)
