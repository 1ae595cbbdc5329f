FROM node:24-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image has its own Node: the copy that the project pins for other machines only weighs.
RUN npm ci --omit=dev && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 GUILDHALL_DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=modules /app/node_modules ./node_modules
COPY package.json ./
COPY generated ./generated
COPY clients ./clients
COPY core ./core
COPY db ./db
COPY integrations ./integrations
COPY runtime ./runtime
COPY domain ./domain
COPY jobs ./jobs
COPY handlers ./handlers
COPY server ./server
COPY scripts ./scripts
ENV NODE_COMPILE_CACHE=/app/node_modules/.cache/guildhall
# Loads every module once, so that the first start finds them compiled.
RUN node -e "Promise.all(['server/service', 'server/api/contract/contract', 'generated/handlers', 'clients/mcp/http'].map((name) => import('./' + name + '.ts'))).then(() => process.exit(0))"
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node as process 1 gets SIGTERM itself and drains.
CMD ["node", "--max-semi-space-size=16", "--heap-growing-percent=100", "server/main.ts"]
