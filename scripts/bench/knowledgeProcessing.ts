import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import PDFDocument from 'pdfkit';
import { API_PREFIX } from '../../generated/operations.ts';
import type { Figure } from './report.ts';
import { median, spread } from './stats.ts';
import type { World } from './world.ts';

const PAGES = 200;
const ROUNDS = 3;
const POLL_MS = 20;
const PATIENCE_MS = 120_000;
const WORDS =
  'the of and to in a is that for it as was with be by on not this are or from had which one but have they were their order refund parcel courier delivery customer invoice warehouse payment receipt weekday country insurance signature damage replacement voucher account address return exchange warranty manual device battery charger cable display repair workshop appointment';

/** Measures the time from the upload of a book to the status COMPLETED, when agents find its passages. */
export async function measureKnowledgeProcessing(world: World): Promise<Figure[]> {
  const service = await world.startService();
  const seconds: number[] = [];
  const passages: number[] = [];
  let bytes = 0;
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const book = await makeBook(round);
      bytes = book.length;
      const began = performance.now();
      const id = await upload(service.url, world.headers, book);
      await completed(service.url, world.headers, id);
      seconds.push((performance.now() - began) / 1000);
      passages.push(await checkPages(world, id));
    }
  } finally {
    await service.stop();
  }
  return [
    {
      measure: 'knowledge',
      name: `PDF of ${PAGES} pages: searchable after`,
      value: median(seconds),
      unit: 's',
      target: { limit: 10, is: 'at most' },
      note: `${(bytes / 1024).toFixed(0)} KiB, ${median(passages)} passages, every page found in the database; rounds ${spread(seconds)}`,
    },
  ];
}

async function upload(url: string, headers: Record<string, string>, book: Buffer): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(book)], { type: 'application/pdf' }), 'book.pdf');
  const response = await fetch(`${url}${API_PREFIX}/knowledge-sources`, { method: 'POST', headers, body: form });
  if (response.status !== 201)
    throw new Error(`The upload of the book returned ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { publicId: string }).publicId;
}

async function completed(url: string, headers: Record<string, string>, id: string): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; ; await sleep(POLL_MS)) {
    const response = await fetch(`${url}${API_PREFIX}/knowledge-sources/${id}`, { headers });
    const source = (await response.json()) as { processingStatus: string; errorMessage: string | null };
    if (source.processingStatus === 'COMPLETED') return;
    if (source.processingStatus === 'FAILED') throw new Error(`The book was not processed: ${source.errorMessage}`);
    if (performance.now() > deadline) throw new Error(`The book was not processed within ${PATIENCE_MS / 1000} s.`);
  }
}

/** Throws unless the first words of every page are found on their page. Returns the number of passages. */
async function checkPages(world: World, id: string): Promise<number> {
  const rows = await world.query<{ page: number; content: string }>(
    `select page, content from knowledge_passages where source_id = '${id}' order by seq`,
  );
  for (let page = 1; page <= PAGES; page += 1) {
    if (!rows.some((row) => row.page === page && row.content.includes(`Opening${page} `)))
      throw new Error(`Page ${page} is not among the ${rows.length} passages.`);
  }
  return rows.length;
}

/** About 450 words on each page, under a heading. Each round has other words. */
async function makeBook(round: number): Promise<Buffer> {
  const words = WORDS.split(' ');
  let state = round + 1;
  const word = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return words[(state >>> 16) % words.length];
  };
  const document = new PDFDocument({ autoFirstPage: false });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = once(document, 'end');
  for (let page = 1; page <= PAGES; page += 1) {
    document.addPage().fontSize(18).text(`Chapter ${page}`).fontSize(11);
    for (let paragraph = 0; paragraph < 5; paragraph += 1) {
      const sentences = Array.from({ length: 6 }, () => `${Array.from({ length: 15 }, word).join(' ')}.`).join(' ');
      document.moveDown().text(paragraph === 0 ? `Opening${page} ${sentences}` : sentences);
    }
  }
  document.end();
  await ended;
  return Buffer.concat(chunks);
}
