# Gatehouse as a container image: the single-file binary, the C library it is linked with, and nothing else. No shell, no
# package manager, no superuser; the root file system may be read-only, because only /data is ever written to.
# What it is built in: any image with Node 20 or newer, npm and glibc.
ARG BUILD_BASE=node:22-bookworm-slim
FROM ${BUILD_BASE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build -- --target host

# What the image will hold, laid out below /image: the binary, the libraries that it names, how names are looked up.
RUN mkdir -p /image/etc \
  && cp dist/gatehouse /image/gatehouse \
  && ldd dist/gatehouse | grep -o '/[^ ]*' | xargs -I '{}' cp --parents --dereference '{}' /image \
  && echo 'hosts: files dns' > /image/etc/nsswitch.conf \
  && mkdir -p /folders && install -d -m 0700 /folders/data && install -d -m 1777 /folders/tmp

FROM scratch
COPY --from=build /image/ /
# A new volume takes its owner and mode from this folder.
COPY --from=build --chown=65532:65532 /folders/ /
USER 65532:65532
WORKDIR /data
VOLUME /data
# Inside a container, listening on the loopback address would reach nobody. The last one is explained in ./gatehouse.
ENV GATEHOUSE_HOST=0.0.0.0 GATEHOUSE_PORT=8080 GATEHOUSE_DATA_DIR=/data BUN_JSC_forceRAMSize=1073741824
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s --retries=3 CMD ["/gatehouse", "doctor", "--ready"]
ENTRYPOINT ["/gatehouse"]
CMD ["serve"]
