import { fault } from '../../core/errors.ts';
import { type AttachmentKind, attachmentKind } from './attachmentKind.ts';
import { isDeclared } from './fileKinds.ts';

/** What a sender of audio is told whose agent does not listen. */
export const DEAF =
  'The agent does not listen to audio. Switch its feature "audio" on (audioListeningEnabled) and publish it.';

/** Who reads attachments: a model, and an agent that may listen. */
export interface AttachmentReader {
  model: { name: string; supportsImage: boolean; supportsDocument: boolean };
  /** Whether the agent accepts audio, which does not depend on its model. */
  listens?: boolean;
}

/** A file of which the content is here. */
interface GivenFile {
  /** How errors name it. */
  title: string;
  filename: string;
  /** By its sender. */
  mediaType: string | undefined;
  served?: string | undefined;
  context: AttachmentReader;
}

/** What kind of attachment the file is. Throws UNSUPPORTED_ATTACHMENT when the model, or an agent that does not listen, takes none of it. */
export async function acceptedKind(
  bytes: Buffer,
  { title, filename, mediaType, served, context: { model, listens = false } }: GivenFile,
): Promise<AttachmentKind> {
  if (bytes.length === 0) throw fault('UNSUPPORTED_ATTACHMENT', `${title} is empty.`);
  const declared = isDeclared(mediaType) ? mediaType : undefined;
  const kind = await attachmentKind(bytes, { declared, served, filename });
  if (typeof kind === 'string') throw fault('UNSUPPORTED_ATTACHMENT', `${title} ${kind}`);
  if (kind.attachment === 'audio') {
    if (!listens) throw fault('UNSUPPORTED_ATTACHMENT', `${title} is ${kind.mediaType}. ${DEAF}`);
  } else if (!(kind.attachment === 'image' ? model.supportsImage : model.supportsDocument)) {
    throw fault(
      'UNSUPPORTED_ATTACHMENT',
      `${title} is ${kind.mediaType}, but the model ${model.name} takes no ${kind.attachment}s.`,
    );
  }
  return kind;
}

/** Whether one of the contents is audio by its bytes. */
export async function hasAudio(contents: readonly (Buffer | null)[]): Promise<boolean> {
  for (const bytes of contents) {
    const kind = bytes && (await attachmentKind(bytes, { filename: '' }));
    if (kind && typeof kind !== 'string' && kind.attachment === 'audio') return true;
  }
  return false;
}
