# An image that checks CUDA programs without a GPU, and builds them by clang (docs/ci.md):
#     docker build -t redviz . && docker run --rm -v "$PWD:/src" redviz --check -- make check
FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev libncurses-dev libsqlite3-dev make
COPY . /redviz
RUN make -C /redviz -j"$(nproc)" O=/build LDFLAGS=-s PREFIX=/usr/local DESTDIR=/install install

FROM debian:bookworm-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends clang libc6-dev libncursesw6 libsqlite3-0 libstdc++-12-dev make && \
    apt-get clean && rm -rf /var/lib/apt/lists/*
COPY --from=build /install /
WORKDIR /src
ENTRYPOINT ["redviz"]
