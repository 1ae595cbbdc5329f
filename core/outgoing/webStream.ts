/**
 * A body as a web stream. Cancelling it calls `close`, which has to end the connection: a generator that was never entered runs
 * no clean-up, and one that waits for a chunk runs it only after the chunk.
 */
export function webStream(
  body: AsyncGenerator<Buffer, void, undefined>,
  close: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await body.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}
