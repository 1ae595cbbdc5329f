import { ApiError } from '../../../core/errors.ts';
import {
  type AttachmentContext,
  type AttachmentInput,
  resolveAttachments,
} from '../../../runtime/files/attachments.ts';

/** The smallest files that pass for their kind. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const JPEG = Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'), Buffer.alloc(32)]);
export const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
export const WEBP = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
export const PDF = Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n');
export const TEXT = Buffer.from('Grüße, name\n1, 2\n');

export const MODEL = { name: 'test-model', supportsImage: true, supportsDocument: true };
export const CONTEXT: AttachmentContext = { model: MODEL, allowPrivateNetwork: true, workspaceId: 'workspace' };
export const inline = (bytes: Buffer, more: AttachmentInput = {}): AttachmentInput => ({
  base64: bytes.toString('base64'),
  ...more,
});

/** The fault that the attachments are refused with. */
export async function faultOf(inputs: AttachmentInput[], context: Partial<AttachmentContext> = {}): Promise<ApiError> {
  try {
    await resolveAttachments(inputs, { ...CONTEXT, ...context });
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('expected a fault');
}
