/**
 * A tool that could not do its work. `message` is told to the caller and to the model, so it names neither secrets nor
 * anything of this service's own insides. `statusCode` is the HTTP status of the answer, where there was one.
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly statusCode: number | null;

  constructor(message: string, options: { statusCode?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.statusCode = options.statusCode ?? null;
  }
}
