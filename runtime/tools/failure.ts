/**
 * A run of a tool that failed. The caller and the model read `message`, so it names neither secrets nor internals of this
 * service. `statusCode` is the HTTP status of the response, where there was one.
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly statusCode: number | null;

  constructor(message: string, options: { statusCode?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.statusCode = options.statusCode ?? null;
  }
}
