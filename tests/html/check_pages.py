#!/usr/bin/env python3
"""The pages of redviz --html in a headless Chromium: check_pages.py REDVIZ [FOLDER]

Each check opens a page from file://, presses its keys and buttons, looks at its text, and asserts that nothing but the page
itself was requested and that neither the page nor the browser complained. Screenshots stay in FOLDER. Ends with
"N passed, N failed"; status 1 if a check fails, or cannot be made.
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

LECTURE = """# A lecture

```lecture
language: en
minutes: 1
needs: no GPU
```

The first stop.

```redviz
--kernel interleaved --n 1024
```

## A number

```redviz
--kernel interleaved --n 1024 --keys ']'
```

Think first.

```predict
How many of the 32 lanes of warp 0 add at distance 4?
topic: divergence
keys: ]llll
answer: lanes(step) = 4
```

## A choice

```predict
Is `this` a [link](javascript:alert)?
topic: links
choices: no | yes
answer: = no
```

## Lanes

```redviz
--kernel interleaved --n 1024 --keys ']]llll'
```

```predict
Which lanes add?
topic: divergence
answer: lane_mask(step) = 0x01010101
```

## The ladder

```redviz
--kernel interleaved --n 1024 --keys 'B'
```
"""

HOSTILE_NAME = "]]>'&quot;<b>-->x.cu"
HOSTILE = ("// </script><script>document.title='taken'</script> <!-- ]]> \x01\x1b[31m \u2028 &amp;\n"
           "</style></title><img src=x onerror=alert(1)>\n")
HOSTILE_PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
.reg .b64 %%rd<3>;
.reg .b32 %%r<3>;
.loc 1 1 1
ld.param.u64 %%rd1, [p];
ld.global.u32 %%r1, [%%rd1];
.loc 1 2 1
st.global.u32 [%%rd1], %%r1;
ret;
}
.file 1 "%s"
"""


class Failed(Exception):
    pass


def expect(truth, what):
    if not truth:
        raise Failed(what)


class Pages:
    def __init__(self, redviz, folder):
        self.redviz, self.folder, self.browser = os.path.abspath(redviz), folder, Browser()
        self.environment = dict(os.environ, LC_ALL="C.UTF-8", REDVIZ_CUDA="/nowhere/libcuda.so.1")

    def make(self, name, *arguments):
        path = os.path.join(self.folder, name + ".html")
        run = subprocess.run([self.redviz, *arguments, "--html", path], env=self.environment, cwd=self.folder,
                             capture_output=True, text=True, timeout=300)
        expect(run.returncode == 0 and not run.stderr, "%s: %s" % (" ".join(arguments), run.stderr))
        return path

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return os.path.join(self.folder, name)

    def text(self):
        return self.browser.run("document.getElementById('frame').innerText")

    def note(self):
        return self.browser.run("document.getElementById('note').textContent")

    def expect_text(self, *parts):
        text = self.text().replace("\u00a0", " ")
        for part in parts:
            expect(part in text, "'%s' is not on the screen:\n%s" % (part, text))

    def expect_quiet(self, path, name=None):
        expect(self.browser.requests == ["file://" + path], "requests: %s" % self.browser.requests)
        expect(not self.browser.complaints, "complaints: %s" % self.browser.complaints)
        if name:
            size = self.browser.screenshot(os.path.join(self.folder, name + ".png"))
            expect(size > 20000, "the screenshot %s has %d bytes" % (name, size))

    # ---- checks

    def check_run(self):
        """Keys and buttons step through a run; its frames are those of the interface."""
        b, path = self.browser, self.make("interleaved", "--kernel", "interleaved")
        expect(os.path.getsize(path) < 1000000, "the page has %d bytes" % os.path.getsize(path))
        b.look(1400, 900)
        b.open(path)
        expect(b.run("document.title") == "interleaved - redviz", "the title")
        self.expect_like_the_interface("")
        self.expect_text("beat 6 of 40", "level 1 of 8", "128 of 256 threads add")
        for keys, like in (("]", "]"), ("]", "]]"), ("l", "]]l"), ("h", "]]lh"), ("[", "]]lh["), ("d", "]d"), ("d", "]dd"),
                           ("r", "]ddr"), ("R", "]dd"), ("j", "]ddj"), ("b", "]ddjb"), ("G", "G"), ("h", "Gh"), ("g", "g"),
                           ("ll", "gll")):
            for key in keys:
                b.press(key)
            self.expect_like_the_interface(like)
        for key in ("g", "ArrowRight", "ArrowRight"):
            b.press(key)
        self.expect_text("beat 2 of 40")
        expect(b.run("location.hash") == "#beat-2", "the link")
        b.run("document.querySelector('#buttons button:nth-child(2)').click()")
        self.expect_text("beat 3 of 40")
        self.expect_quiet(path, "run_dark")

    def expect_like_the_interface(self, keys):
        """Compares row by row, except for the last, which has hints."""
        run = subprocess.run([self.redviz, "--kernel", "interleaved", "--frame", "--keys", keys], env=self.environment,
                             capture_output=True, text=True, timeout=100)
        wanted = run.stdout.split("\n")[:39]
        got = [row.rstrip() for row in self.text().split("\n")][:39]
        for row, (a, b) in enumerate(zip(wanted, got)):
            expect(a == b, "after '%s', row %d:\n%s\n%s" % (keys, row, a, b))

    def check_play(self):
        """Play ends at the last frame; a link to a beat opens at that beat."""
        b, path = self.browser, self.make("strided", "--kernel", "strided", "--n", "4096", "--block", "64")
        b.look(1400, 900, "light")
        b.open(path, "#beat-4")
        self.expect_text("beat 4 of ")
        expect(b.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "a light page")
        for _ in range(6):
            b.press("+")
        b.press("End")
        b.press("ArrowLeft")
        before = self.text()
        b.press(" ", " ")
        b.run("new Promise(done => setTimeout(done, 700))")
        expect(self.text() != before and "last frame" in self.note(), "it has not played to its end: " + self.note())
        b.press("n")
        b.press("g")
        b.press("n")
        b.press(".")
        self.expect_text("wavefront")
        self.expect_quiet(path, "play_light")

    def check_phone(self):
        """On a phone: the page is as wide as the screen, the frame scrolls in it; a finger steps."""
        b, path = self.browser, self.make("phone", "--kernel", "shuffle", "--n", "4096")
        b.look(390, 844, "dark", phone=True)
        b.open(path)
        expect(b.run("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen")
        expect(b.run("document.getElementById('frame').scrollWidth > document.getElementById('frame').clientWidth"),
               "the frame does not scroll")
        expect(b.run("parseFloat(getComputedStyle(document.getElementById('frame')).fontSize) >= 9"), "too small to read")
        before = self.text()
        b.tap("#buttons button:nth-child(2)")
        expect(self.text() != before, "a tap does not step")
        b.tap("#buttons button:last-child")
        expect(b.run("document.getElementById('frame').scrollWidth <= document.getElementById('frame').clientWidth + 1"),
               "the frame does not fit")
        self.expect_quiet(path, "phone")

    def lecture(self, *options):
        return self.make("lecture" + "".join(options), "--lecture", self.write("lecture.md", LECTURE), *options)

    def check_lecture(self):
        """Goes from stop to stop; right, wrong and missing answers; the score."""
        b, path = self.browser, self.lecture()
        b.look(1400, 900)
        b.open(path)
        shown = "Array.from(document.querySelectorAll('.stop')).filter(e => e.offsetParent).map(e => e.id).join()"
        expect(b.run(shown) == "stop-1", "the first stop")
        b.press("PageDown")
        expect(b.run(shown) == "stop-2" and b.run("location.hash") == "#stop-2", "the second stop")
        hidden = self.text()
        expect("?/" not in hidden and "16/32" not in hidden and "?" in hidden, "figures are not hidden:\n" + hidden)
        b.press("ArrowRight")
        expect(self.text() == hidden, "a question that waits lets the reader step on")
        b.press("5")
        b.press("Backspace")
        b.press("4")
        b.press("Enter", "\r")
        verdict = "document.querySelector('.stop.now .verdict').textContent"
        expect(b.run(verdict) == "Right: 4", "the verdict: " + b.run(verdict))
        b.run("new Promise(done => setTimeout(done, 1500))")
        self.expect_text("4/32")
        b.press("PageDown")
        expect(b.run(shown) == "stop-3", "the third stop")
        expect(b.run("document.querySelectorAll('.stop.now a').length") == 0, "an address that is a script")
        b.press("2")
        expect(b.run(verdict) == "No, it is no (your answer: yes)", "the verdict: " + b.run(verdict))
        b.press("PageDown")
        for lane in (0, 8, 16, 25):
            b.run("document.querySelectorAll('.stop.now .marks button')[%d].click()" % lane)
        expect(b.run("document.querySelector('.stop.now input').value") == "0x2010101", "lanes that were pointed at")
        b.run("document.querySelectorAll('.stop.now .marks button')[25].click()")
        b.run("document.querySelectorAll('.stop.now .marks button')[24].click()")
        b.run("Array.from(document.querySelectorAll('.stop.now .question > button')).find(e => e.textContent === 'Answer').click()")
        expect(b.run(verdict) == "Right: 0x01010101", "the verdict: " + b.run(verdict))
        b.press("PageDown")
        score = b.run("document.querySelector('.stop.now .score').textContent")
        expect(score == "Your answers: 2 of 3 right: divergence 2 of 2, links 0 of 1", score)
        self.expect_text("interleaved_bitmask", "fastest")
        self.expect_quiet(path, "lecture")

    def check_links(self):
        """A link to a stop; in a lecture without answers, no question waits."""
        b, path = self.browser, self.lecture("--no-predict")
        b.look(1400, 900, "light")
        b.open(path, "#stop-4")
        self.expect_text("4/32")
        expect(b.run("document.querySelectorAll('.lanes').length") == 0, "it asks")
        expect("stop 4 of 5" in self.note(), self.note())
        self.expect_quiet(path, "link_light")

    def check_quiz(self):
        """The questions of --predict about a run form a lecture, too."""
        b, path = self.browser, self.make("quiz", "--kernel", "interleaved", "--n", "4096", "--predict")
        b.look(1400, 900)
        b.open(path)
        b.press("8")
        b.press("Enter", "\r")
        verdict = b.run("document.querySelector('.stop.now .verdict').textContent")
        expect(verdict == "Right: 8", "the verdict: " + verdict)
        b.press("PageDown")
        expect("stop 2 of " in self.note() and "hidden" in self.note(), self.note())
        self.expect_quiet(path, "quiz")

    def check_shipped(self):
        """A shipped lecture, in both languages: every stop, its question skipped, its run to the end."""
        b = self.browser
        b.look(1400, 900)
        for language in ("en", "zh"):
            path = self.make("ladder." + language, "--lecture", "ladder", "--language", language)
            expect(os.path.getsize(path) < 6000000, "the page has %d bytes" % os.path.getsize(path))
            b.open(path)
            stops = b.run("document.querySelectorAll('.stop').length")
            expect(stops >= 10, "%d stops" % stops)
            for stop in range(1, stops + 1):
                expect(b.run("document.documentElement.dataset.stop") == str(stop), "stop %d" % stop)
                if b.run("!!document.querySelector('.stop.now .verdict')"):
                    b.press("PageDown")  # shows the answer
                    expect(b.run("document.querySelector('.stop.now .verdict').textContent") != "", "no answer is shown")
                for key in ("G", "h", "]", "g"):
                    b.press(key)
                expect(len(self.text().split()) > 50, "stop %d is empty" % stop)
                b.press("PageDown")
            expect(b.run("!!document.querySelector('.stop.now .score')"), "there is no score")
            self.expect_quiet(path, "ladder_" + language)

    def check_hostile(self):
        """Names and source lines that look like markup are text."""
        self.write(HOSTILE_NAME, HOSTILE)
        name = self.write("<script>x.ptx", HOSTILE_PTX % HOSTILE_NAME)
        b, path = self.browser, self.make("hostile", name, "--args", "a=int[n]:iota, n", "--n", "64", "--frame=200x50")
        b.look(1900, 1000)
        b.open(path)
        self.expect_text("// </script><script>document.title='taken'</script>", "<!-- ]]> ??[31m ? &amp;",
                         "</style></title><img src=x onerror=alert(1)>", "source  " + HOSTILE_NAME)
        expect(b.run("document.title").endswith(" - redviz"), b.run("document.title"))
        expect(b.run("document.images.length") == 0 and b.run("document.scripts.length") == 2, "markup came through")
        self.expect_quiet(path, "hostile")

    def check_movie(self):
        """An animated image shows its frames one after another."""
        path = os.path.join(self.folder, "movie.svg")
        run = subprocess.run([self.redviz, "--kernel", "interleaved", "--frame=100x36", "--svg", "--keys", "{1s}]{1s}]{60s}"],
                             env=self.environment, capture_output=True, text=True, timeout=100)
        expect(run.returncode == 0, run.stderr)
        self.write("movie.svg", run.stdout)
        b = self.browser
        b.look(1000, 700)
        b.open(path)
        seen = ("Array.from(document.querySelectorAll('text')).filter(e => getComputedStyle(e).visibility === 'visible')"
                ".map(e => e.textContent).join(' ')")
        at = "document.getAnimations().forEach(a => { a.pause(); a.currentTime = %d; })"
        for time, level in ((100, 1), (1100, 2), (2100, 3)):
            b.run(at % time)
            expect("level %d of 8" % level in " ".join(b.run(seen).split()), "level %d is not seen" % level)
        self.expect_quiet(path, "movie")


def main():
    folder = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="redviz-html-")
    os.makedirs(folder, exist_ok=True)
    pages, passed, failed = Pages(sys.argv[1], folder), 0, 0
    for name in sorted(name for name in dir(Pages) if name.startswith("check_")):
        try:
            getattr(pages, name)()
            passed += 1
            print("  passed   " + name[len("check_"):])
        except Failed as why:
            failed += 1
            print("  FAILED   %s: %s" % (name[len("check_"):], why))
    pages.browser.close()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed > 0 or passed == 0)


if __name__ == "__main__":
    main()
