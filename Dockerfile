# sensegraph in a container: offline, without root, corpora in the volume /corpora.
#
#   docker build -t sensegraph .
#   docker run --rm -v "$PWD/notes:/corpora" sensegraph index input
#   docker run --rm -v "$PWD/notes:/corpora" sensegraph query "What are the main themes?"
#   docker run --rm -p 8000:8000 -v "$PWD/notes:/corpora" sensegraph serve . --host 0.0.0.0 --port 8000 --token-file tokens
#
# The last one writes a token for reading and one for writing to notes/tokens. The folder must be writable for the user 1000,
# or for the one that `--user "$(id -u)"` names.
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
