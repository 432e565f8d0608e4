"""Shows an order and what it costs: python3 server.py PORT"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from totals import total

PRICES = [10, 20, 30]

PAGE = f"""<!doctype html>
<title>An order</title>
<style>body {{ font: 20px sans-serif; margin: 3em }} strong {{ color: seagreen }}</style>
<h1>An order</h1>
<p>{" + ".join(map(str, PRICES))}, half price: <strong id="total">{total(PRICES, 50):g}</strong></p>
"""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
