"""The rules of docs/parallel.md as an independent program: workers that evaluate at the same time. Times are whole ticks.
It looks through all workers at every instant; nothing is kept in order, so that it shares no structure with Regatta's."""
import dataclasses
import math

TICK = 1_000_000


def ticks(units):
    return math.floor(TICK * units + 0.5)


@dataclasses.dataclass
class Setting:
    """The settings of the study file. n_known: values that are known before the clock starts. duration(submission, attempt)
    is in ticks; None: it never ends. think(n): ticks for a query after n told evaluations. life(), repair(): ticks, or
    None."""
    workers: int
    sync: bool
    n_initial: int
    n_known: int
    n: int
    duration: callable
    overlapped: bool = False
    think: callable = staticmethod(lambda n: 0)
    n_designed: int = 0
    time: float = math.inf
    longest: float = math.inf
    life: callable = staticmethod(lambda: math.inf)
    repair: callable = staticmethod(lambda: None)
    resubmit: bool = True


@dataclasses.dataclass
class Row:
    submission: int
    worker: int = 0
    attempts: int = 1
    dispatched: float = math.nan
    finished: float = math.nan
    told: float = math.nan
    idle: float = math.nan
    ending: str = "done"


@dataclasses.dataclass
class Worker:
    number: int
    state: str = "idle"  # idle, waiting, thinking, busy, dead
    until: float = math.inf  # busy, dead: when that ends
    dies: float = math.inf
    lives: int = 1
    row: Row = None
    idle: int = 0


class Clock:
    """A trial. `rows` are in the order of telling, `asked` has (now, told, pending) of each query when it was
    chosen."""

    def __init__(self, setting):
        self.s = setting
        self.now, self.rows, self.asked, self.lost_count = 0, [], {}, 0
        self.workers = [Worker(w + 1) for w in range(setting.workers)]
        for worker in self.workers:
            worker.dies = max(setting.life(), 1)
        self.told, self.open, self.again = set(), [], []  # again: (submission, attempt) of lost evaluations
        self.idle_at_end = {}  # idle ticks by the time of an end
        self.ended, self.batch = [], []  # not told yet; queries of the batch, None for one that waits for the method
        self.queue = []  # workers that wait for the method
        self.thought = None  # (when it ends, submission, its worker, the life of the worker)
        for number in range(1, setting.n_known + 1):
            self.rows.append(Row(number))
            self.told.add(number)
        self.next = setting.n_known + 1
        self.run()

    # ---- the run ----

    def run(self):
        self.fill()
        while self.open or (self.next <= self.s.n and self.now < self.s.time):
            then = min(self.thought[0] if self.thought else math.inf,
                       *(min(w.until, math.inf if w.state == "dead" else w.dies) for w in self.workers))
            if then > self.s.time or then == math.inf:
                break
            self.pass_time(then)
            self.happen()
            self.tell()
            self.fill()
        if math.isfinite(self.s.time) and self.open:
            self.pass_time(self.s.time)
        self.tell(everything=True)
        self.makespan = max((row.finished for row in self.rows if row.worker), default=0)
        self.idle_share = self.idle_at_end.get(self.makespan, 0) / (self.s.workers * self.makespan or math.nan)
        self.in_flight = len(self.open)

    def pass_time(self, then):
        for worker in self.workers:
            if worker.state in ("idle", "waiting", "thinking"):
                worker.idle += then - self.now
        self.now = then

    def idle(self):
        return sum(worker.idle for worker in self.workers)

    # ---- one instant ----

    def happen(self):
        busy = [w for w in self.workers if w.state == "busy" and w.until == self.now]
        for worker in sorted(busy, key=lambda w: w.row.submission):
            self.end(worker, "late" if worker.row.ending == "late" else "done")
            worker.state, worker.until = "idle", math.inf
        for worker in self.workers:
            if worker.state != "dead" and worker.dies == self.now:
                self.die(worker)
        for worker in self.workers:
            if worker.state == "dead" and worker.until == self.now:
                worker.state, worker.until, worker.lives = "idle", math.inf, worker.lives + 1
                worker.dies = self.now + max(self.s.life(), 1)
        if self.thought and self.thought[0] == self.now:
            _, number, worker, life = self.thought
            self.thought = None
            if worker.state == "thinking" and worker.lives == life and self.now < self.s.time:
                self.start(worker, number, 1)
            else:
                self.again.append((number, 1))

    def end(self, worker, ending):
        row = worker.row
        row.finished, row.ending = self.now, ending
        self.idle_at_end[self.now] = self.idle()
        self.ended.append(row)

    def die(self, worker):
        if worker.state == "busy":
            self.lost_count += 1
            if self.s.resubmit:
                self.again.append((worker.row.submission, worker.row.attempts + 1))
            else:
                self.end(worker, "lost")
        if worker.state == "waiting":
            self.queue.remove(worker)
            if None in self.batch:
                self.batch.remove(None)
        worker.state = "dead"
        away = self.s.repair()
        worker.until = math.inf if away is None else self.now + away

    def is_batched(self, submission):
        return self.s.sync and submission > self.s.n_initial

    def tell(self, everything=False):
        left = set(self.batch) - {row.submission for row in self.ended}
        now = [row for row in self.ended if not self.is_batched(row.submission)]
        if everything or not left:
            batch = [row for row in self.ended if self.is_batched(row.submission)]
            now += sorted(batch, key=lambda row: row.submission)
            self.batch = [] if not left else self.batch
        for row in now:
            row.told, row.idle = self.now, self.idle()
            self.ended.remove(row)
            self.open.remove(row.submission)
            self.told.add(row.submission)
            self.rows.append(row)

    def fill(self):
        if self.now >= self.s.time:
            return
        opens = not self.batch
        self.serve()
        for worker in self.workers:
            if worker.state != "idle":
                continue
            if self.again:
                self.again.sort()
                self.start(worker, *self.again.pop(0))
            elif self.may_ask(opens):
                if self.is_batched(self.next + len(self.queue)):
                    self.batch.append(None)
                worker.state = "waiting"
                self.queue.append(worker)
                self.serve()

    def may_ask(self, opens):
        number = self.next + len(self.queue)
        if number > self.s.n:
            return False
        if number <= self.s.n_initial:
            return True
        if not set(range(1, self.s.n_initial + 1)) <= self.told and not (self.s.overlapped and not self.s.sync):
            return False
        return opens or not self.s.sync

    def serve(self):
        while self.queue and not self.thought:
            worker, number = self.queue.pop(0), self.next
            self.next += 1
            self.asked[number] = (self.now, sorted(self.told), sorted(self.open))
            if self.is_batched(number):
                self.batch[self.batch.index(None)] = number
            self.open.append(number)
            time = 0 if number <= max(self.s.n_designed, self.s.n_initial) else self.s.think(len(self.told))
            if time:
                worker.state = "thinking"
                self.thought = (self.now + time, number, worker, worker.lives)
            else:
                self.start(worker, number, 1)

    def start(self, worker, number, attempt):
        time = self.s.duration(number, attempt)
        late = time > self.s.longest
        time = min(time, self.s.longest)
        worker.state, worker.until = "busy", self.now + time
        worker.row = Row(number, worker.number, attempt, self.now, ending="late" if late else "done")
