# `nary serve` in a container; docs/serving.md says how to build and run it.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
# torch for CPUs is a tenth of the size of torch for GPUs; for those, build with --build-arg TORCH_INDEX=https://pypi.org/simple
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --index-url "$TORCH_INDEX" 'torch>=2.8,<2.14' \
    && pip install --no-cache-dir "$(echo /wheels/nary-*.whl)[serve,hub]" \
    && rm -r /wheels \
    && useradd --create-home --uid 1000 nary
USER nary
WORKDIR /home/nary
VOLUME /model
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["nary", "serve", "--host", "0.0.0.0"]
CMD ["/model"]
