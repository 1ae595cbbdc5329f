// Tells the page that embeds the prices how high they are. It learns nothing else.
const tell = () => parent.postMessage({ guildhallPricing: Math.ceil(document.body.scrollHeight) }, '*');
if (parent !== window) new ResizeObserver(tell).observe(document.body);
