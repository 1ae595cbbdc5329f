import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnreadableFile } from '../../../runtime/knowledge/extract/blocks.ts';
import { EXTRACT_LIMITS } from '../../../runtime/knowledge/extract.ts';
import { extract, makeDocxBomb, makeNestedDocx, ownReaders } from '../../support/knowledge/knowledge.ts';
import { poll } from '../../support/poll.ts';

const MB = 1024 * 1024;
/** Seconds of work, in a language whose words must be looked for. */
const LONG_WORK = '返金は三十日以内に可能です。'.repeat(450_000);

const thrown = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test('a reader that runs too long is killed, and the message says so', async () => {
  const error = await thrown(extract(LONG_WORK, 'text', { limits: { ...EXTRACT_LIMITS, timeMs: 700 } }));
  expect(error).toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/takes too long\. Split it/);
  expect(await ownReaders()).toEqual([]);
});

test('a DOCX that says that it unpacks to hundreds of megabytes is not unpacked', async () => {
  const bomb = await makeDocxBomb(130);
  expect(bomb.length).toBeLessThan(MB);
  const error = await thrown(extract(bomb, 'docx'));
  expect(error).toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/unpacks to far more than its size/);
});

test('a DOCX that declares a false size is not unpacked', async () => {
  const bomb = await makeDocxBomb(130, true);
  const error = await thrown(extract(bomb, 'docx', { limits: { ...EXTRACT_LIMITS, memoryBytes: 300 * MB } }));
  expect(error).toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/The DOCX is damaged/);
});

test('a reader that takes too much memory is killed', async () => {
  const before = process.memoryUsage().rss;
  const error = await thrown(extract(LONG_WORK, 'text', { limits: { ...EXTRACT_LIMITS, memoryBytes: 100 * MB } }));
  expect(error).toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/takes too much memory\. Split it/);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB);
  expect(await ownReaders()).toEqual([]);
});

test('a DOCX of a few KB whose tables nest too deeply is refused, and not read for minutes', async () => {
  const hostile = await makeNestedDocx(200, 300_000);
  expect(hostile.length).toBeLessThan(5_000);
  const error = await thrown(extract(hostile, 'docx'));
  expect(error).toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/nest too deeply/);
  expect(String(await thrown(extract(await makeNestedDocx(30_000, 0), 'docx')))).toMatch(/nest too deeply/);
});

test('a DOCX with ten tables within each other is read', async () => {
  const passages = await extract(await makeNestedDocx(10, 10), 'docx');
  expect(passages.map(({ content }) => content)).toEqual(['In the middle.']);
});

test('more text than an agent can be given is refused', async () => {
  const error = await thrown(extract('word '.repeat(4_300_000), 'text'));
  expect(error).toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/more than 20 million characters\. Split it/);
});

test('a reader that writes without end is killed', async () => {
  const error = await thrown(extract(LONG_WORK, 'text', { limits: { ...EXTRACT_LIMITS, outputChars: 10_000 } }));
  expect(error).toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/too much text/);
});

test('an abort ends the reader at once, with the reason of the abort', async () => {
  const stopping = new AbortController();
  const reading = thrown(extract(LONG_WORK, 'text', { signal: stopping.signal }));
  await poll(ownReaders, (found) => found.length > 0);
  stopping.abort(new Error('The service is stopping.'));
  expect(String(await reading)).toBe('Error: The service is stopping.');
  expect(await ownReaders()).toEqual([]);
});

test('a reader has nothing of our environment', async () => {
  process.env.GUILDHALL_TEST_SECRET = 'do not tell';
  const stopping = new AbortController();
  const reading = thrown(extract(LONG_WORK, 'text', { signal: stopping.signal }));
  const [reader] = await poll(ownReaders, (found) => found.length > 0);
  expect(reader?.environment).not.toMatch(/do not tell|PATH=/);
  stopping.abort(new Error('enough'));
  await reading;
  delete process.env.GUILDHALL_TEST_SECRET;
});

test('a reader may read its own code and its file, and not what else is in the folder of the service', async () => {
  const stopping = new AbortController();
  const reading = thrown(extract(LONG_WORK, 'text', { signal: stopping.signal }));
  const [reader] = await poll(ownReaders, (found) => found.length > 0);
  const command = (await readFile(`/proc/${reader?.pid}/cmdline`, 'utf8')).split('\0');
  const rights = command.filter((each) => /^--(permission|allow-)/.test(each));
  stopping.abort(new Error('enough'));
  await reading;
  expect(rights).toContain('--permission');
  const read = 'require("node:fs").readFileSync(process.argv[1])';
  const script = (path: string) => spawn(process.execPath, [...rights, '-e', read, path], { stdio: 'ignore' });
  const root = join(import.meta.dirname, '../../..');
  const ends = async (path: string) => (await once(script(join(root, path)), 'close'))[0];
  expect([await ends('package.json'), await ends('README.md')]).toEqual([0, 1]);
});

test('a reader whose parent has ended exits before it is done', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-extract-'));
  const path = join(folder, 'source');
  await writeFile(path, LONG_WORK);
  const script = join(import.meta.dirname, '../../../runtime/knowledge/extract/child.ts');
  // Nobody holds the other end of its input, but somebody still takes its output.
  const child = spawn(process.execPath, [script, 'text', path], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  expect(await once(child, 'close')).toEqual([1, null]);
  await rm(folder, { recursive: true });
});

test('a fault of the service is not reported as a fault of the file', async () => {
  const error = await thrown(extract('text', 'spreadsheet' as 'text'));
  expect(error).not.toBeInstanceOf(UnreadableFile);
  expect(String(error)).toMatch(/reader of spreadsheet files ended with 1/);
});
