import type { SecretBox } from '../../core/secrets.ts';
import type { MailData, MailKind } from './mailData.ts';

const placeOf = (workspaceId: string, id: string) => ({ workspaceId, table: 'mails', rowId: id, column: 'content' });

/** Seals what a mail says for its row: its links are secrets. */
export function sealMailContent(
  secrets: SecretBox,
  { workspaceId, id }: { workspaceId: string; id: string },
  data: MailData[MailKind],
): Buffer {
  return secrets.seal(JSON.stringify(data), placeOf(workspaceId, id));
}

/** What a mail says, as `sealMailContent` got it for its kind. Throws SecretUnreadable. */
export function openMailContent(
  secrets: SecretBox,
  { workspaceId, id }: { workspaceId: string; id: string },
  content: Buffer,
): MailData[MailKind] {
  return JSON.parse(secrets.open(content, placeOf(workspaceId, id)));
}
