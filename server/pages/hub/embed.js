/*
 * Embeds the prices of a hub where its element stands:
 *
 *   <script async src="https://acme.hubs.example.com/pricing/embed.js"></script>
 */
(() => {
  const script = document.currentScript;
  const frame = document.createElement('iframe');
  frame.src = new URL('embed', script.src).href;
  frame.title = script.dataset.title || 'Pricing';
  frame.loading = 'lazy';
  frame.referrerPolicy = 'no-referrer';
  frame.style.cssText = 'display:block;width:100%;height:600px;border:0;color-scheme:normal';
  addEventListener('message', (event) => {
    if (event.source !== frame.contentWindow) return;
    const height = event.data?.guildhallPricing;
    if (Number.isFinite(height) && height > 0) frame.style.height = `${Math.min(height, 20000)}px`;
  });
  script.after(frame);
})();
