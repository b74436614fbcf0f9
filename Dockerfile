# sensegraph in a container: offline, without root, corpora in the volume /corpora.
#
#   docker build -t sensegraph .
#   docker run --rm -v "$PWD/notes:/corpora" sensegraph index input
#   docker run --rm -v "$PWD/notes:/corpora" sensegraph query "What are the main themes?"
#   docker run --rm -p 8000:8000 -v "$PWD/notes:/corpora" sensegraph serve . --host 0.0.0.0
#
# EXTRAS chooses optional dependencies: --build-arg EXTRAS=docs,server,mcp

FROM python:3.13-slim AS build
ARG EXTRAS=docs,server,mcp
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/sensegraph && /opt/sensegraph/bin/pip install --no-cache-dir ".[${EXTRAS}]"

FROM python:3.13-slim
COPY --from=build /opt/sensegraph /opt/sensegraph
RUN useradd --create-home --uid 1000 sensegraph && mkdir /corpora && chown sensegraph /corpora
ENV PATH=/opt/sensegraph/bin:$PATH PYTHONUNBUFFERED=1
USER sensegraph
WORKDIR /corpora
VOLUME /corpora
ENTRYPOINT ["sensegraph"]
CMD ["--help"]
