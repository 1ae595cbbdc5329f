/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** An image as the content of a tool's result. */
export const imageContent = (bytes: Buffer = PIXEL, mimeType = 'image/png') => ({
  type: 'image',
  data: bytes.toString('base64'),
  mimeType,
});
