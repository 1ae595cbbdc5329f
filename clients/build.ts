import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { licensesOf } from './licenses.ts';

/*
 * Builds one package of clients/ into its folder dist/: `node clients/build.ts sdk`. `npm pack ./clients/sdk` calls it (a script
 * of the package). Another folder can be named, so that tests do not share one. In a checkout nothing is built: everything runs
 * from its source.
 */
interface Package {
  /** The files of dist/, each with its source in the folder of the package. */
  files: Record<string, string>;
  options: BuildOptions;
  /** Whether it ships types: the package then has a `tsconfig.build.json`. */
  types?: boolean;
}

/**
 * One folder with everything in it. What a command needs is loaded when it is called, so there are pieces. The packages within that are
 * CommonJS call `require` for the modules of Node.
 */
const command: BuildOptions = {
  platform: 'node',
  target: 'node20',
  splitting: true,
  minify: true,
  chunkNames: 'pieces/[name]-[hash]',
  // Its CommonJS form asks for its own parts by a `require` that esbuild cannot see.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
};

const packages: Record<string, Package> = {
  // Its dependencies stay packages: those who bundle it for a page want them once.
  sdk: {
    files: { index: 'index.ts', node: 'node.ts' },
    options: { platform: 'neutral', packages: 'external', external: ['node:*'], target: 'es2022', splitting: true },
    types: true,
  },
  cli: {
    files: { guildhall: 'main.ts', 'guildhall-mcp': '../mcp/main.ts' },
    options: command,
  },
  mcp: { files: { 'guildhall-mcp': 'main.ts' }, options: command },
};

const root = join(import.meta.dirname, '..');

async function main(name = '', out?: string): Promise<void> {
  const chosen = packages[name];
  if (!chosen) throw new Error(`Usage: node clients/build.ts ${Object.keys(packages).join(' | ')} [FOLDER]`);
  const folder = join(import.meta.dirname, name);
  const outdir = out ?? join(folder, 'dist');
  // Whatever else is in a folder that somebody named stays there.
  if (out === undefined) rmSync(outdir, { recursive: true, force: true });
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const entryPoints = Object.entries(chosen.files).map(([out, file]) => ({ in: join(folder, file), out }));
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    format: 'esm',
    legalComments: 'eof',
    logLevel: 'warning',
    ...chosen.options,
    metafile: true,
  });
  const licenses = licensesOf(root, Object.keys(metafile.inputs));
  if (licenses) writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), `${licenses}\n`);
  if (!chosen.types) return;
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(folder, 'tsconfig.build.json')], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The types cannot be written.');
}

await main(process.argv[2], process.argv[3]).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
