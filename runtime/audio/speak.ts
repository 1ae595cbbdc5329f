import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { FileStore } from '../../integrations/storage/storage.ts';
import { attachmentKind } from '../files/attachmentKind.ts';
import { speechKey } from '../files/publicFiles.ts';
import type { ModelDescriptor } from '../models/catalogue.ts';
import { modelFault } from '../models/errors.ts';
import { withRetries } from '../models/retry.ts';
import type { AudioModelName, ModelSettings } from '../models/settings.ts';
import { compute } from '../threads/compute.ts';
import { audioModelName, audioModels } from './models.ts';
import { speakable } from './speakable.ts';

/** A reply is sent without its recording after this time. */
const TIMEOUT_MS = 60_000;

/** The parts of the run-time that `speak` uses. */
export interface SpeechParts {
  models: ModelSettings;
  files: FileStore;
  logger?: Pick<Logger, 'warn'> | undefined;
}

/** Characters of which the spoken part is found in a few milliseconds. Of more it is found in a thread. */
const QUICK_CHARACTERS = 2_000;
const SPOKEN_PART_MS = 2_000;

/** A reply to read aloud. */
export interface Utterance {
  workspaceId: string;
  text: string;
  /** The voice of the agent's configuration. A name that only another provider knows means the default voice. */
  voice: string | null;
  /** The agent's own model: its provider is preferred. */
  model: Pick<ModelDescriptor, 'provider'>;
  signal: AbortSignal;
  /** Default 60,000. */
  timeoutMs?: number;
}

async function spokenPart({ text, workspaceId, signal }: Utterance): Promise<string> {
  if (text.length <= QUICK_CHARACTERS) return speakable(text);
  return compute('speakable', [text], { workspaceId, limitMs: SPOKEN_PART_MS, signal });
}

/**
 * Has a reply read aloud and stores the recording under a key that cannot be guessed (see publicFiles.ts). Returns null when the reply
 * has no words, no configured provider can speak, or the provider fails or takes too long. Failures are logged, and the promise never
 * rejects: a reply must not fail because of its recording.
 */
export async function speak(parts: SpeechParts, utterance: Utterance): Promise<{ key: string; bytes: number } | null> {
  const { workspaceId, signal, timeoutMs = TIMEOUT_MS } = utterance;
  const text = await spokenPart(utterance).catch((error: unknown) => {
    parts.logger?.warn({ workspaceId, err: error }, 'a reply was not spoken: its text could not be read');
    return '';
  });
  if (text === '' || signal.aborted) return null;
  const name = audioModelName(parts.models, 'speech', utterance.model);
  if (!name) {
    parts.logger?.warn({ workspaceId }, 'a reply was not spoken: no model provider that is configured can speak');
    return null;
  }
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const audio = await synthesize(parts.models, name, {
      text,
      voice: voiceFor(name, utterance.voice),
      signal: limited,
    });
    const kind = await attachmentKind(audio, { filename: '' });
    if (typeof kind === 'string' || kind.attachment !== 'audio') throw new Error('The provider did not send audio.');
    const key = speechKey(workspaceId, randomBytes(24).toString('base64url'), kind.extensions[0] ?? '');
    await parts.files.put(key, audio);
    return { key, bytes: audio.byteLength };
  } catch (error) {
    const { message } = modelFault(error, { settings: parts.models, model: name, said: [text] });
    parts.logger?.warn(
      { workspaceId, model: `${name.provider}/${name.modelId}`, reason: message },
      'a reply was not spoken',
    );
    return null;
  }
}

/** The request for a recording, in the provider's terms. */
interface SpeechRequest {
  text: string;
  voice: string | undefined;
  signal: AbortSignal;
}

async function synthesize(
  settings: ModelSettings,
  name: AudioModelName,
  { text, voice, signal }: SpeechRequest,
): Promise<Uint8Array> {
  const speechModel = (await audioModels(settings, name.provider)).speech(name.modelId);
  // Google has no MP3 and would return a warning each time.
  const format = name.provider === 'google' ? {} : { outputFormat: 'mp3' };
  const options = { text, ...format, ...(voice === undefined ? {} : { voice }), abortSignal: signal };
  const { audio } = await withRetries(async () => speechModel.doGenerate(options), {
    retries: settings.retries,
    begun: () => false,
    abortSignal: signal,
  });
  return typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio;
}

/** https://platform.openai.com/docs/guides/text-to-speech and https://ai.google.dev/gemini-api/docs/speech-generation */
const VOICES = {
  openai: words('alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'),
  google: words(
    'Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome ' +
      'Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix ' +
      'Sadachbia Sadaltager Sulafat',
  ),
};

/** The voice under the provider's own name. A name in neither list is passed on: it may be new. */
function voiceFor({ provider }: AudioModelName, voice: string | null): string | undefined {
  const wanted = voice?.trim() ?? '';
  if (wanted === '') return undefined;
  if (provider === 'openai-compatible') return wanted;
  const known = VOICES[provider].get(wanted.toLowerCase());
  const foreign = VOICES[provider === 'openai' ? 'google' : 'openai'].has(wanted.toLowerCase());
  return known ?? (foreign ? undefined : wanted);
}

function words(text: string): Map<string, string> {
  return new Map(text.split(' ').map((word) => [word.toLowerCase(), word]));
}
