#!/bin/sh
# layout.sh PYTHON JUDGE [COUNT [SEED [ORDERS]]] - random records, judged by gcc and clang.
set -e
here=$(dirname "$0")
count=${3:-5000} seed=${4:-1} orders=${5:-2}
"$1" "$here/gen_records.py" --count "$count" --seed "$seed" | "$2" --orders "$orders" --seed "$seed"
