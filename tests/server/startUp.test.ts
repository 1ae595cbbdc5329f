import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Loads what the service loads before it is ready, and prints who imported what. */
const PROGRAM = `
  import { registerHooks } from 'node:module';
  const found = [];
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const how = context.conditions.includes('require') ? 'require' : 'import';
      found.push({ url: resolved.url, how, by: context.parentURL });
      return resolved;
    },
  });
  for (const name of ['generated/handlers', 'server/httpServer', 'server/service', 'server/stop', 'server/demo']) await import('./' + name + '.ts');
  process.stdout.write(JSON.stringify(found));
`;

interface Load {
  url: string;
  how: 'require' | 'import';
  by: string | undefined;
}

test('a start loads nothing that is not needed at once', async () => {
  const cwd = join(import.meta.dirname, '../..');
  const args = ['--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 16 * 1024 * 1024 });
  const loads = JSON.parse(stdout) as Load[];
  expect(loads.some(({ url }) => url.includes('/node_modules/kysely/'))).toBe(true);
  const late =
    /\/node_modules\/(yaml|pg-boss|@ai-sdk\/(openai|anthropic|google)|mathjs|unpdf|mammoth|multer|quickjs-emscripten|gpt-tokenizer)\//;
  expect(loads.filter(({ url }) => late.test(url)).map(({ url, by }) => `${url} by ${by}`)).toEqual([]);
  // core/nodeHttp.ts says why.
  const http = loads.filter(({ url, how }) => url === 'node:http' && how === 'import');
  expect(http.map(({ by }) => by)).toEqual([]);
});
