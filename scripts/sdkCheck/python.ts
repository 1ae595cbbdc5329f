import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandLine, firstError, run } from './commandLine.ts';
import { type Generator, type Place, PROGRAMS } from './generator.ts';
import { installOpenapiGenerator, OPENAPI_GENERATOR_WARNINGS, openapiGenerator } from './openapiGenerator.ts';

const OPENAPI_PYTHON_CLIENT = 'openapi-python-client==0.29.1';
/** What the client of openapi-generator imports. That of openapi-python-client imports packages that come with its generator. */
const CLIENT_PACKAGES = ['urllib3==2.8.0', 'python-dateutil==4.0.0', 'pydantic==2.14.3', 'typing-extensions==4.16.0'];

function environment(cache: string): string {
  return join(cache, OPENAPI_PYTHON_CLIENT);
}

/** Makes a virtual environment for both generators and their clients. Throws when a package is not to be had. */
async function installPackages({ cache }: Place): Promise<void> {
  const folder = environment(cache);
  if (existsSync(join(folder, 'complete'))) return;
  const commands: CommandLine[] = [
    { line: ['python3', '-m', 'venv', '--clear', folder], folder: '.' },
    { line: [join(folder, 'bin/pip'), 'install', '-q', OPENAPI_PYTHON_CLIENT, ...CLIENT_PACKAGES], folder: '.' },
    { line: ['touch', join(folder, 'complete')], folder: '.' },
  ];
  for (const command of commands) {
    const { ok, output } = await run(command);
    if (!ok) throw new Error(firstError(output));
  }
}

/** Python compiles nothing ahead of time: a module that cannot be imported is found by importing all of them. */
function clientInPython(program: string): Pick<Generator, 'compile' | 'use'> {
  const python = (cache: string) => join(environment(cache), 'bin/python');
  return {
    async compile({ cache, folder }) {
      for (const file of ['report.py', 'import_all.py']) await cp(join(PROGRAMS, 'python', file), join(folder, file));
      await cp(join(PROGRAMS, 'python', program), join(folder, 'use.py'));
      return { line: [python(cache), 'import_all.py'], folder };
    },
    use: ({ cache, folder }) => ({ line: [python(cache), 'use.py'], folder }),
  };
}

export const pythonGenerators: readonly Generator[] = [
  {
    name: 'python',
    fast: false,
    warnings: OPENAPI_GENERATOR_WARNINGS,
    tools: ['java', 'python3'],
    async install(place) {
      await installOpenapiGenerator(place);
      await installPackages(place);
    },
    generate: (place) => openapiGenerator('python', place),
    ...clientInPython('openapi_generator.py'),
  },
  {
    name: 'openapi-python-client',
    fast: false,
    tools: ['python3'],
    install: installPackages,
    generate: ({ cache, document, folder }) => ({
      line: [
        join(environment(cache), 'bin/openapi-python-client'),
        'generate',
        '--path',
        document,
        '--output-path',
        'client',
        '--fail-on-warning',
      ],
      folder,
      // It formats what it writes with a program of its own environment.
      env: { PATH: `${join(environment(cache), 'bin')}:${process.env.PATH}` },
    }),
    ...clientInPython('openapi_python_client.py'),
  },
];
