import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/*
 * Bundles server/pages/chat/source/ into server/pages/chat/bundle/, what the chat page serves: `npm run chat:bundle`. The bundle is
 * committed, so that a start needs no build. `npm run chat:check` fails when it is not what the sources say.
 * docs/decisions/0050-the-chat-page.md says why.
 */

const source = join(import.meta.dirname, '../server/pages/chat/source');
const target = join(import.meta.dirname, '../server/pages/chat/bundle');
const modules = join(import.meta.dirname, '../node_modules');

/** Names of the packages that are built in, by the files that were read. */
function packagesOf(files: readonly string[]): string[] {
  const names = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

function licenceOf(name: string): string {
  const folder = join(modules, name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[sc]e/i.test(each));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
}

/** Every file of the bundle, by its name. */
async function bundle(): Promise<Map<string, string>> {
  const common = {
    bundle: true,
    minify: true,
    write: false,
    legalComments: 'none',
    target: 'es2022',
    charset: 'utf8',
  } as const;
  const [page, loader, style] = await Promise.all([
    build({
      ...common,
      entryPoints: [join(source, 'main.tsx')],
      format: 'esm',
      metafile: true,
      tsconfig: join(source, 'tsconfig.json'),
      alias: { react: 'preact/compat', 'react-dom': 'preact/compat' },
    }),
    build({
      ...common,
      entryPoints: [join(source, 'embed.ts')],
      format: 'iife',
      tsconfig: join(source, 'tsconfig.json'),
    }),
    build({ ...common, entryPoints: [join(source, 'page.css')] }),
  ]);
  const textOf = ({ outputFiles }: { outputFiles: { text: string }[] }) => outputFiles[0]?.text ?? '';
  const licences = packagesOf(Object.keys(page.metafile.inputs)).map(licenceOf);
  return new Map([
    ['page.js', textOf(page)],
    ['embed.js', textOf(loader)],
    ['page.css', textOf(style)],
    ['licenses.txt', `page.js has these packages built in.\n\n${licences.join(`\n${'-'.repeat(80)}\n\n`)}`],
  ]);
}

const files = await bundle();
if (process.argv.includes('--check')) {
  const stale = [...files].filter(([name, text]) => {
    try {
      return readFileSync(join(target, name), 'utf8') !== text;
    } catch {
      return true;
    }
  });
  if (stale.length > 0) {
    process.stderr.write(`Stale: ${stale.map(([name]) => name).join(', ')}. Run \`npm run chat:bundle\` and commit.\n`);
    process.exitCode = 1;
  }
} else {
  for (const [name, text] of files) writeFileSync(join(target, name), text);
  process.stdout.write([...files].map(([name, text]) => `${name} ${text.length}\n`).join(''));
}
