import Foundation
import SignetAuthenticator
import SignetCore
import SignetStorage

/// Runs `signet watch`: takes keys, signals and what was read as events, one after the other, and draws the changes.
///
/// It sleeps until the next event or the next second, and draws at most 30 times a second.
struct WatchLoop {
    /// Something that changes the view.
    enum Event: Sendable {
        case input([UInt8])
        case inputEnd
        /// No byte has followed that of the key Escape; the number says which.
        case keyTimeout(Int)
        case resized
        case stopRequest
        case continued
        case second
        case frame
        case contents(Result<WatchContents, Failure>)
        case codes(Result<[String: OneTimeCode], Failure>)
        /// A code was copied; the text is the code of a counter, which is shown too.
        case copied(Result<CodeCopier.Copied, Failure>, counterCode: String?)
        case answered(id: String, Result<PushNotification, Failure>)
        case listener(uid: String, WatchListener.Event)
        case errorOutput(String)
    }

    let source: WatchSource
    let copier: CodeCopier
    /// The session for listeners of this process; nil when it does not listen.
    let listening: Session?
    let send: AsyncStream<Event>.Continuation
    private let events: AsyncStream<Event>
    private let clock = SystemWallClock()

    var model: WatchModel
    private var screen: WatchScreen
    private var keys = WatchKeyReader()
    /// The number of the last piece of input.
    private var inputCount = 0
    private var stopSignal: HeldSignal?
    private var nextFrame = ContinuousClock.now
    private var isFrameDue = false

    var isReading = false
    var isCopying = false
    /// The state of the vault's files before the last reading.
    var stamp: VaultStamp
    /// The time of the last look at these files.
    var lastCheck: Date
    /// True when everything must be read again even if the files have not changed.
    var needsContents: Bool
    /// True when it must be read now.
    var isUrgent = false
    /// True after the user has refused the codes at the agent, which is not asked again before the next key.
    var isRefused = false
    /// The listeners by the ID of the mechanism.
    var listeners: [String: Task<Void, Never>] = [:]
    /// The processes that clear the clipboard later.
    var children: [pid_t] = []

    /// The time between two frames.
    private static let frameTime = Duration.milliseconds(34)
    /// The time in which the other bytes of a key arrive.
    private static let keyTime = Duration.milliseconds(100)

    /// Creates the view.
    /// - Parameters:
    ///   - source: The vault.
    ///   - contents: What was read of it.
    ///   - stamp: The state of its files before that.
    ///   - copier: The way to the clipboard.
    ///   - listening: The session for listeners of this process; nil for none.
    ///   - filter: The text of the search at the beginning.
    ///   - environment: The variables that decide about colors.
    init(
        _ source: WatchSource, _ contents: WatchContents, stamp: VaultStamp, copier: CodeCopier, listening: Session?,
        filter: String, environment: [String: String]
    ) {
        self.source = source
        self.copier = copier
        self.listening = listening
        self.stamp = stamp
        (events, send) = AsyncStream.makeStream(of: Event.self)
        let now = clock.now
        lastCheck = now
        needsContents = !stamp.isSettled(at: now)
        var model = WatchModel(size: WatchScreen.size, now: now, filter: filter)
        model.asksForPresence = !source.authenticator.checksPresence
        model.take(contents)
        self.model = model
        screen = WatchScreen(environment: environment)
    }

    /// Shows the view until the user ends it.
    /// - Throws: `CancellationError` after Ctrl-C, a signal, and the end of the terminal; ``Failure``. The terminal is as before in
    ///   each case.
    mutating func run() async throws {
        do {
            try await show()
        } catch {
            await endListeners()
            throw error
        }
        await endListeners()
    }

    private mutating func show() async throws {
        let (send, clock) = (self.send, self.clock)
        // A view that was started in the background stops here until the shell continues it.
        ForegroundProcess.waitUntilThis(at: STDIN_FILENO)
        try screen.open()
        defer { screen.close() }
        let errors = CapturedErrors { send.yield(.errorOutput($0)) }
        defer { errors?.end() }
        let input = WatchInput(STDIN_FILENO) { piece in
            if let piece { send.yield(.input(piece)) } else { send.yield(.inputEnd) }
        }
        defer { input.end() }
        let signals = [(SIGWINCH, Event.resized), (SIGCONT, Event.continued)].compactMap { number, event in
            HeldSignal(number, evenIfIgnored: true) { send.yield(event) }
        }
        defer { for signal in signals { signal.release() } }
        holdStopSignal()
        defer { stopSignal?.release() }
        let ticker = Task {
            while !Task.isCancelled {
                let second = clock.now.timeIntervalSince1970
                try? await Task.sleep(for: .seconds(second.rounded(.down) + 1 - second))
                send.yield(.second)
            }
        }
        defer { ticker.cancel() }
        listen()
        draw()
        for await event in events {
            model.advance(to: clock.now)
            guard try take(event) else { return }
            readIfNeeded()
            drawSoon()
        }
        throw CancellationError()
    }

    private func endListeners() async {
        for listener in listeners.values { listener.cancel() }
        for listener in listeners.values { await listener.value }
    }

    // MARK: Events

    /// Takes an event, and returns false when the user has ended the view.
    private mutating func take(_ event: Event) throws -> Bool {
        switch event {
        case .input(let bytes):
            let typed = keys.keys(from: bytes)
            inputCount += 1
            if keys.mayBeEscape { after(Self.keyTime, .keyTimeout(inputCount)) }
            return try take(typed)
        case .keyTimeout(let count):
            guard count == inputCount else { return true }
            let typed = keys.timeout()
            return try take(typed)
        case .inputEnd: throw CancellationError()
        case .resized: resize()
        case .stopRequest: try stop()
        case .continued: try resume()
        case .second: reap()
        case .frame: isFrameDue = false
        case .contents(let result): take(contents: result)
        case .codes(let result): take(codes: result)
        case .copied(let result, let counterCode): take(copied: result, counterCode)
        case .answered(let id, let result): take(answer: result, to: id)
        case .listener(let uid, let event): take(event, of: uid)
        case .errorOutput(let text): model.show(text, isError: true)
        }
        return true
    }

    private mutating func take(_ typed: [WatchKey]) throws -> Bool {
        if !typed.isEmpty { isRefused = false }
        for key in typed {
            guard let action = model.handle(key) else { continue }
            guard try perform(action) else { return false }
        }
        return true
    }

    /// Performs an action, and returns false for the end of the view.
    private mutating func perform(_ action: WatchAction) throws -> Bool {
        switch action {
        case .copy(let id): copy(id)
        case .approve(let id, let number):
            answer(id) { try await $0.approve(id, number: number, presence: TypedPresence()) }
        case .deny(let id): answer(id) { try await $0.deny(id) }
        case .redraw: resize()
        case .suspend: try stop()
        case .end: return false
        case .interrupt: throw CancellationError()
        }
        return true
    }

    private func after(_ time: Duration, _ event: Event) {
        let send = self.send
        Task {
            try? await Task.sleep(for: time)
            send.yield(event)
        }
    }

    // MARK: The terminal

    private mutating func draw() {
        nextFrame = ContinuousClock.now + Self.frameTime
        screen.draw(WatchFrame.lines(model, colors: screen.hasColors))
    }

    private mutating func drawSoon() {
        guard !isFrameDue else { return }
        let wait = ContinuousClock.now.duration(to: nextFrame)
        guard wait > .zero else { return draw() }
        isFrameDue = true
        after(wait, .frame)
    }

    private mutating func resize() {
        screen.forget()
        model.resize(to: WatchScreen.size)
    }

    private mutating func holdStopSignal() {
        let send = self.send
        stopSignal = HeldSignal(SIGTSTP, evenIfIgnored: false) { send.yield(.stopRequest) }
    }

    /// Stops this process, as Ctrl-Z does, with the terminal as before.
    private mutating func stop() throws {
        // A process that ignores the signal has no shell that could continue it.
        guard let signal = stopSignal else { return }
        screen.close()
        signal.release()
        ForegroundProcess.stop()
        holdStopSignal()
        try resume()
    }

    /// Takes the terminal again after the process was stopped, by Ctrl-Z or by another process.
    private mutating func resume() throws {
        ForegroundProcess.waitUntilThis(at: STDIN_FILENO)
        try Task.checkCancellation()
        screen.close()
        try screen.open()
        model.advance(to: clock.now)
        resize()
    }
}
