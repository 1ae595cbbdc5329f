import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Generator, type Place, PROGRAMS } from './generator.ts';
import { installOpenapiGenerator, OPENAPI_GENERATOR_WARNINGS, openapiGenerator } from './openapiGenerator.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');

/** As strict as the file that `tsc --init` writes. */
const COMPILER_OPTIONS = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.asynciterable'],
  module: 'commonjs',
  moduleResolution: 'bundler',
  strict: true,
  skipLibCheck: true,
  types: ['node'],
  rootDir: '.',
  outDir: 'built',
};

/** The compiler and the runtime are those of this repository. */
function clientInTypescript(name: string): Pick<Generator, 'compile' | 'use'> {
  return {
    async compile({ folder }) {
      await cp(join(PROGRAMS, 'typescript/report.ts'), join(folder, 'report.ts'));
      await cp(join(PROGRAMS, `typescript/${name}.ts`), join(folder, 'use.ts'));
      const config = { compilerOptions: COMPILER_OPTIONS, include: ['use.ts', 'client/**/*.ts'] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
      await writeFile(join(folder, 'package.json'), '{"type": "commonjs"}');
      return { line: [process.execPath, join(MODULES, 'typescript/bin/tsc'), '-p', '.'], folder };
    },
    use: ({ folder }) => ({ line: [process.execPath, 'built/use.js'], folder }),
  };
}

function packageCommand(script: string, args: readonly string[], { folder }: Place) {
  return { line: [process.execPath, join(MODULES, script), ...args], folder };
}

export const typescriptGenerators: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    fast: true,
    tools: [],
    generate: (place) =>
      packageCommand('openapi-typescript/bin/cli.js', [place.document, '-o', 'client/api.ts'], place),
    ...clientInTypescript('openapiTypescript'),
  },
  {
    name: 'hey-api',
    fast: true,
    tools: [],
    generate: (place) =>
      packageCommand('@hey-api/openapi-ts/bin/run.js', ['-i', place.document, '-o', 'client'], place),
    ...clientInTypescript('heyApi'),
  },
  {
    name: 'typescript-fetch',
    fast: false,
    warnings: OPENAPI_GENERATOR_WARNINGS,
    tools: ['java'],
    install: installOpenapiGenerator,
    generate: (place) => openapiGenerator('typescript-fetch', place),
    ...clientInTypescript('typescriptFetch'),
  },
];
