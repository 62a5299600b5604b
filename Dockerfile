# docker build -t regatta . && docker run --rm -v "$PWD":/work regatta run study.yaml -o out.h5
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
      build-essential cmake ninja-build pkg-config openmpi-bin libopenmpi-dev petsc-dev \
      libscalapack-openmpi-dev libhdf5-openmpi-dev libopenblas-dev liblapacke-dev libgsl-dev \
      liblbfgsb-dev libyaml-dev libjansson-dev libxxhash-dev librandom123-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN cmake -S /source -B /build -G Ninja -DREGATTA_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/opt/regatta \
    && cmake --build /build --target install

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
      openmpi-bin libpetsc-real3.18 libscalapack-openmpi2.2 libhdf5-openmpi-103-1 \
      libhdf5-openmpi-hl-100 libopenblas0-pthread liblapacke libgsl27 liblbfgsb0 libyaml-0-2 \
      libjansson4 libxxhash0 python3 python3-numpy python3-scipy python3-pandas python3-h5py \
      python3-xarray python3-h5netcdf python3-netcdf4 python3-matplotlib python3-jinja2 \
      python3-yaml python3-xxhash \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 regatta
COPY --from=build /opt/regatta /opt/regatta
ENV PATH=/opt/regatta/bin:$PATH OMPI_MCA_osc=^ucx
USER regatta
WORKDIR /work
RUN ["/opt/regatta/bin/regatta", "version"]
ENTRYPOINT ["regatta"]
CMD ["help"]
