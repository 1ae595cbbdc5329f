import { ComputationFailed, compute } from '../threads/compute.ts';
import { splitReply } from './split.ts';

/** Characters that are split in a few milliseconds. Brackets and tables without end take 0.3 s for 100,000. */
const QUICK_CHARACTERS = 5_000;
const LIMIT_MS = 2_000;

/** The messages of a reply, as `splitReply` makes them. A long one is split in a thread, and stays whole when that takes too long. */
export async function splitReplyOf(
  text: string,
  { workspaceId, signal }: { workspaceId: string; signal?: AbortSignal },
): Promise<string[]> {
  if (text.length <= QUICK_CHARACTERS) return splitReply(text);
  try {
    return await compute('splitReply', [text], { workspaceId, limitMs: LIMIT_MS, signal });
  } catch (error) {
    if (error instanceof ComputationFailed) return [text];
    throw error;
  }
}
