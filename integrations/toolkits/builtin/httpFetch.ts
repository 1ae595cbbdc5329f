import { z } from 'zod';
import {
  guardedFetch,
  OutgoingFailed,
  OutgoingRefused,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../core/outgoing.ts';
import { ThreadStopped } from '../../../core/thread.ts';
import { PoolBusy, ThreadPool } from '../../../core/threadPool.ts';
import { htmlText } from './htmlText.ts';
import { type RegisterTools, registerTool, ToolRefusal } from './tool.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 2_000_000;
const DEFAULT_CHARACTERS = 20_000;

/** Characters of a page that is read in a few milliseconds. A larger one is read in a thread; workspaces take turns. */
const QUICK_CHARACTERS = 100_000;

const pages = new ThreadPool<string, string>({
  script: new URL('./htmlWorker.ts', import.meta.url),
  limits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
  keptMs: 60_000,
  limitMs: 5_000,
  threads: 1,
  waitingOfOne: 64,
  waitingOfAll: 512,
});

/** The text of a page. Throws ToolRefusal when it takes too long, or the signal's reason. */
async function textOf(html: string, workspaceId: string, signal: AbortSignal | undefined): Promise<string> {
  if (html.length <= QUICK_CHARACTERS) return htmlText(html);
  try {
    return await pages.run(workspaceId, html, signal);
  } catch (error) {
    if (error instanceof PoolBusy) throw new ToolRefusal(`Reading pages is busy: ${error.message}`);
    if (error instanceof ThreadStopped) throw new ToolRefusal('The page takes too long to read.');
    throw error;
  }
}

const HTML = /^(text\/html|application\/xhtml\+xml)$/;
const TEXT = /^(text\/.*|application\/([\w.-]+\+)?(json|xml|yaml|javascript|x-ndjson|x-yaml))$/;

/** Decodes the body with the charset that the response names, or else the page itself. */
function decode({ headers, body }: OutgoingResponse): string {
  const declared = /charset=["']?([\w-]+)/i.exec(headers['content-type'] ?? '')?.[1];
  const inPage = /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(body.subarray(0, 2048).toString('latin1'))?.[1];
  try {
    return new TextDecoder(declared ?? inPage ?? 'utf-8').decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

async function fetchPage(url: string, limits: Pick<OutgoingRequest, 'allowPrivateNetwork' | 'workspaceId' | 'signal'>) {
  try {
    return await guardedFetch(url, {
      accept: 'text/html,application/json;q=0.9,text/*;q=0.8,*/*;q=0.1',
      headers: { 'user-agent': 'guildhall' },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      ...limits,
    });
  } catch (error) {
    if (error instanceof OutgoingFailed || error instanceof OutgoingRefused) throw new ToolRefusal(error.message);
    throw error;
  }
}

/** Registers a tool that reads pages and APIs of the web through the guarded client. */
export const registerHttpFetch: RegisterTools = (server, host) => {
  registerTool(
    server,
    host,
    {
      name: 'fetch_page',
      title: 'Fetch a page',
      description:
        'Fetches a web page or a JSON, XML or text resource with GET and answers with its readable text. Long texts come in ' +
        'parts: ask again with startAt.',
      readsOutside: true,
      input: z.object({
        url: z.string().min(1).max(2048).describe('Address, beginning with https:// or http://'),
        startAt: z.int().min(0).default(0).describe('Character of the text to begin at'),
        maxCharacters: z
          .int()
          .min(100)
          .max(50_000)
          .default(DEFAULT_CHARACTERS)
          .describe('Most characters to answer with'),
      }),
    },
    async ({ url, startAt, maxCharacters }) => {
      const { allowPrivateNetwork } = host;
      const { workspaceId, signal } = host.context();
      const limits = { allowPrivateNetwork, workspaceId, ...(signal ? { signal } : {}) };
      const response = await fetchPage(url, limits);
      const type = (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
      if (response.body.length > 0 && !TEXT.test(type) && !HTML.test(type)) {
        throw new ToolRefusal(
          `The address answered ${response.status} with ${type || 'an unnamed type'}, which is no text.`,
        );
      }
      const text = HTML.test(type) ? await textOf(decode(response), workspaceId, signal) : decode(response);
      const end = startAt + maxCharacters;
      const more = text.length > end ? `, more from startAt ${end}` : '';
      const head = `Status ${response.status}, ${response.url}, ${text.length} characters${more}`;
      const answer = `${head}\n\n${text.slice(startAt, end)}`;
      if (response.status >= 400) throw new ToolRefusal(answer);
      return answer;
    },
  );
};
