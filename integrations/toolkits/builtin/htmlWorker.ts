import { parentPort } from 'node:worker_threads';
import { htmlText } from './htmlText.ts';

/* Reads large pages in a thread of its own: two megabytes take 0.3 s. */

parentPort?.on('message', (html: string) => {
  parentPort?.postMessage(htmlText(html));
});
parentPort?.postMessage('ready');
