import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/*
 * Writes server/pages/docs/scalar/, the API reference that /docs serves: `npm run docs:update -- [version]`. Without a version it writes
 * the recorded one again, and fails when the registry has other bytes for it. It installs the package with all that is built into its one
 * file (290 MB, in a temporary folder), takes the file and the licences, and runs no script of any package.
 * docs/decisions/0027-the-api-reference-is-one-file.md says why.
 */

const PACKAGE = '@scalar/api-reference';
const FILE = 'dist/browser/standalone.js';
const target = join(import.meta.dirname, '../server/pages/docs/scalar');

/** What `source.json` records. */
interface Source {
  package: string;
  version: string;
  /** Of the package, as npm computes it. */
  integrity: string;
  /** The file of the package that is served. */
  file: string;
  /** Of that file, in hexadecimal. */
  sha256: string;
}

function recorded(): Source {
  return JSON.parse(readFileSync(join(target, 'source.json'), 'utf8')) as Source;
}

/** Names of the packages that are built into the file: its source map lists the files that it was made of. */
function builtIn(map: string): string[] {
  const { sources } = JSON.parse(map) as { sources: string[] };
  const names = sources.flatMap((source) => {
    // The last folder: packages may lie within each other, and pnpm's own folder begins with a dot.
    const outside = [...source.matchAll(/node_modules\/((?:@[^/]+\/)?[^/.@][^/]*)\//g)].at(-1)?.[1];
    const sibling = /^(?:\.\.\/)+([a-z-]+)\/dist\//.exec(source)?.[1];
    return outside ?? (sibling && `@scalar/${sibling}`) ?? [];
  });
  return [...new Set([PACKAGE, ...names])].sort();
}

/** The licence of an installed package: its name, version and licence, and its text if it has one. */
function licenceOf(modules: string, name: string): { title: string; text: string | undefined } {
  const folder = join(modules, name);
  try {
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^(licen[sc]e|copying)/i.test(each));
    const text = file && readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
    return { title: `${name} ${version} (${license})`, text };
  } catch {
    return { title: `${name} (built in by its authors, not installed with the package)`, text: undefined };
  }
}

/** All licences as one text; packages with the same text share it. */
function licences(modules: string, names: string[]): string {
  const byText = Map.groupBy(
    names.map((name) => licenceOf(modules, name)),
    // Scalar's own packages have one licence, and some of them come without its text.
    ({ title, text }) => text ?? (title.startsWith('@scalar/') ? licenceOf(modules, '@scalar/types').text : undefined),
  );
  const sections = [...byText].map(([text, packages]) => {
    const titles = packages.map(({ title }) => title).join('\n');
    return `${titles}\n\n${text ?? 'No text of a licence comes with these packages.'}\n`;
  });
  return `${PACKAGE} is one file with these packages built in.\n\n${sections.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

const before = recorded();
const version = process.argv[2] ?? before.version;
const folder = mkdtempSync(join(tmpdir(), 'guildhall-docs-'));
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const options = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...options, `${PACKAGE}@${version}`], { cwd: folder, stdio: 'inherit' });
  const modules = join(folder, 'node_modules');
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const { version: installed, integrity } = lock.packages[`node_modules/${PACKAGE}`];
  if (installed === before.version && integrity !== before.integrity)
    throw new Error(`${PACKAGE} ${installed} is not what it was: ${integrity}, not ${before.integrity}.`);
  const file = join(modules, PACKAGE, FILE);
  const script = readFileSync(file);
  const sha256 = createHash('sha256').update(script).digest('hex');
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: script.length,
  };
  const names = builtIn(readFileSync(`${file}.map`, 'utf8'));
  const source: Source = { package: PACKAGE, version: installed, integrity, file: FILE, sha256 };
  writeFileSync(join(target, 'standalone.js.br'), brotliCompressSync(script, { params }));
  writeFileSync(join(target, 'standalone.js.gz'), gzipSync(script, { level: constants.Z_BEST_COMPRESSION }));
  writeFileSync(join(target, 'LICENSES.txt'), licences(modules, names));
  writeFileSync(join(target, 'source.json'), `${JSON.stringify(source, null, 2)}\n`);
  process.stdout.write(`${PACKAGE} ${installed}: ${script.length} bytes, ${names.length} packages built in\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
