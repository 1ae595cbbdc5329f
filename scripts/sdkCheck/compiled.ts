import { existsSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { firstError, run } from './commandLine.ts';
import { type Generator, PROGRAMS } from './generator.ts';
import { installOpenapiGenerator, OPENAPI_GENERATOR_WARNINGS, openapiGenerator } from './openapiGenerator.ts';

const RUNTIME_CLASSPATH = ['dependency:build-classpath', '-Dmdep.outputFile=classpath', '-Dmdep.includeScope=runtime'];

const java: Generator = {
  name: 'java',
  fast: false,
  warnings: [
    ...OPENAPI_GENERATOR_WARNINGS,
    {
      text: 'Ignoring complex example on request body',
      why: 'The comments of the client have no examples of objects.',
    },
  ],
  tools: ['java', 'mvn'],
  install: installOpenapiGenerator,
  generate: (place) => openapiGenerator('java', place),
  async compile({ folder }) {
    await cp(join(PROGRAMS, 'java/Use.java'), join(folder, 'client/src/main/java/Use.java'));
    return { line: ['mvn', '-q', '-B', 'compile', ...RUNTIME_CLASSPATH], folder: join(folder, 'client') };
  },
  use: ({ folder }) => ({
    line: ['sh', '-c', 'exec java -cp "target/classes:$(cat classpath)" Use'],
    folder: join(folder, 'client'),
  }),
};

const go: Generator = {
  name: 'go',
  fast: false,
  warnings: [
    ...OPENAPI_GENERATOR_WARNINGS,
    {
      text: 'model_http_tool_test.go with suffix',
      why: 'Only the name of a file changes; the type is `HttpToolTest`.',
    },
    { text: 'type (reserved word)', why: 'The path parameter of a logo is named by the contract; Go gets `type_`.' },
  ],
  tools: ['java', 'go'],
  install: installOpenapiGenerator,
  generate: (place) => openapiGenerator('go', place, 'enumClassPrefix=true'),
  async compile({ folder }) {
    await mkdir(join(folder, 'client/use'));
    await cp(join(PROGRAMS, 'go/openapi_generator.go'), join(folder, 'client/use/main.go'));
    return { line: ['go', 'build', '-o', '../use', './use'], folder: join(folder, 'client') };
  },
  use: ({ folder }) => ({ line: ['./use'], folder }),
};

const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2@v2.8.2';

const oapiCodegen: Generator = {
  name: 'oapi-codegen',
  fast: false,
  tools: ['go'],
  async install({ cache }) {
    const bin = join(cache, OAPI_CODEGEN);
    if (existsSync(join(bin, 'oapi-codegen'))) return;
    const [path, version] = OAPI_CODEGEN.split('@');
    const line = ['go', 'install', `${path}/cmd/oapi-codegen@${version}`];
    const { ok, output } = await run({ line, folder: '.', env: { GOBIN: bin } });
    if (!ok) throw new Error(firstError(output));
  },
  generate: ({ cache, document, folder }) => ({
    line: ['sh', '-c', 'mkdir api && "$0" -config "$1" "$2"'].concat(
      join(cache, OAPI_CODEGEN, 'oapi-codegen'),
      join(PROGRAMS, 'go/oapi_codegen.yaml'),
      document,
    ),
    folder,
  }),
  async compile({ folder }) {
    await cp(join(PROGRAMS, 'go/oapi_codegen.go'), join(folder, 'main.go'));
    await cp(join(PROGRAMS, 'go/oapi_codegen.mod'), join(folder, 'go.mod'));
    return { line: ['go', 'build', '-mod=mod', '-o', 'use', '.'], folder };
  },
  use: ({ folder }) => ({ line: ['./use'], folder }),
};

const rust: Generator = {
  name: 'rust',
  fast: false,
  warnings: [
    ...OPENAPI_GENERATOR_WARNINGS,
    {
      text: /AbstractRustCodegen - \S+ cannot be used as /,
      why: 'Names of HTTP headers, media types and events are written as Rust writes names.',
    },
  ],
  tools: ['java', 'cargo'],
  cannot: { stream: 'The client reads no other answers than JSON.' },
  install: installOpenapiGenerator,
  generate: (place) => openapiGenerator('rust', place),
  async compile({ cache, folder }) {
    await mkdir(join(folder, 'src'));
    await cp(join(PROGRAMS, 'rust/main.rs'), join(folder, 'src/main.rs'));
    await cp(join(PROGRAMS, 'rust/Cargo.toml'), join(folder, 'Cargo.toml'));
    const env = { CARGO_TARGET_DIR: join(cache, 'rust') };
    return { line: ['cargo', 'build', '-q', '--jobs', '2'], folder, env };
  },
  use: ({ cache, folder }) => ({ line: [join(cache, 'rust/debug/use-openapi')], folder }),
};

export const compiledGenerators: readonly Generator[] = [java, go, oapiCodegen, rust];
