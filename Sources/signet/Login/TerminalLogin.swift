import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

/// One run of a journey at the terminal.
struct TerminalLogin {
    private let journeys: Journey
    private let options: JourneyOptions
    /// The journey, module or level, which the server may want to be started again.
    private let index: AuthenticationIndex
    /// The name of the saved profile that names the journey; nil when an argument or a default names it.
    private let savedProfile: String?
    private var form: StepPrompter
    private var screen = StepPrinter()
    private var enrollment: EnrollmentOffer

    /// The maximum number of steps, so that a journey that only this machine answers cannot run forever.
    private static let maxSteps = 500
    /// The maximum number of callbacks in all steps, so that a server can't keep the command busy with long ones.
    private static let maxCallbacks = 20_000
    private static let minWait = Duration.milliseconds(200)
    private static let maxWait = Duration.seconds(60)
    /// The time that has passed in waits and their requests, in all steps.
    private var waited = Duration.zero
    private let timeout: Duration

    /// Creates a run.
    /// - Parameters:
    ///   - journeys: The journeys of the server.
    ///   - index: The journey, module or level to start; nil for the profile's authentication service.
    ///   - savedProfile: The name of the saved profile that names the journey, for the error of a refused start; nil when an
    ///     argument or a default names it.
    ///   - options: The options of the journey.
    ///   - session: The vault, for device keys and passkeys.
    ///   - passkeys: The place of the passkeys; nil when the server is told that the device has none.
    ///   - prompts: The source of answers.
    ///   - enrollment: The enrollment of accounts that the journey offers.
    ///   - timeout: The maximum time of all waits together, so that a server can't keep the command waiting forever.
    init(
        _ journeys: Journey, _ index: AuthenticationIndex? = nil, savedProfile: String?, options: JourneyOptions,
        session: Session, passkeys: PasskeyAnswers.Place?, prompts: PromptSession, enrollment: EnrollmentOffer,
        timeout: Duration = .seconds(600)
    ) {
        self.timeout = timeout
        self.savedProfile = savedProfile
        self.journeys = journeys
        self.index = index ?? .service(journeys.profile.authenticationService)
        self.options = options
        self.enrollment = enrollment
        form = StepPrompter(
            prompts, device: DeviceAnswers(session, for: journeys.profile),
            passkeys: passkeys.map { PasskeyAnswers(session, in: $0, for: journeys.profile) })
    }

    /// The names of the answers that weren't used.
    var unusedAnswers: [String] { form.prompts.unusedAnswers }

    /// The error of a login that was to enroll an account and found none; nil without such an error.
    var enrollmentFailure: Failure? { enrollment.failure }

    /// Runs the journey to its end.
    /// - Parameter isResumed: True to resume at the link of an email.
    /// - Returns: The final state, which is never a step.
    /// - Throws: ``Failure`` when an answer is missing or not possible, or the journey has too many steps; `CancellationError`
    ///   when the input ends; the errors of the journey and the vault.
    mutating func run(isResumed: Bool) async throws -> JourneyState {
        var state = isResumed ? try await resumed() : try await started()
        var (count, callbacks) = (0, 0)
        while case .step(let step) = state {
            if step.waitMilliseconds == nil {
                count += 1
                callbacks += step.callbacks.count
            }
            guard count <= Self.maxSteps, callbacks <= Self.maxCallbacks else {
                throw Failure(
                    .protocolBroken, "journey.endless", "the journey did not end within \(count) steps, and signet stopped it")
            }
            screen.show(step, form.prompts)
            try await enrollment.offer(step, &form.prompts)
            state = try await next(step)
        }
        return state
    }

    private func started() async throws -> JourneyState {
        let profile = journeys.profile
        do {
            return try await journeys.start(index, options: options)
        } catch let error as JourneyError where error.code == .refused && (error.status == 400 || error.status == 404) {
            // AM's messages are "No Configuration found" and "Resource not found".
            let name =
                switch index.type {
                case "module": "a module called '\(index.value)'"
                case "level": "a module of level \(index.value) or above"
                default: "a journey called \(journeyName)"
                }
            // OpenAM answers 404 for a module that it doesn't have.
            let isAboutName = error.status == 400 || index.type == "module"
            let hint =
                isAboutName
                ? "is there \(name) in the realm \(profile.realm)?"
                : "is \(profile.url.url) an AM's address up to its deployment path, such as /am, and \(profile.realm) a realm of it?"
            let part = index.type == "service" ? "journey" : index.type
            throw Failure(
                .notAllowed, "journey.refused", "\(error.description.pageLine); \(hint)", part: error.status == 400 ? part : "url"
            )
        } catch let error as JourneyError where index.type == "service" && Self.isRefusedStart(error) {
            throw Failure(error).advising("; the journey is \(journeyName)")
        }
    }

    /// The journey's name for an error of its start, with the saved profile that it is from.
    private var journeyName: String {
        let source = savedProfile.map { " (from the saved profile '\($0)'; --journey changes it)" } ?? ""
        return "'\(index.value)'\(source)"
    }

    /// Returns true when the server refuses to start a journey with a status that does not say why.
    private static func isRefusedStart(_ error: JourneyError) -> Bool {
        (error.status == 401 && error.code == .loginFailed) || (error.status == 403 && error.code == .refused)
    }

    private mutating func next(_ step: JourneyStep) async throws -> JourneyState {
        if step.suspensionMessage != nil { return try await resumed() }
        if let redirect = step.first(RedirectCallback.self) { return try await redirected(step, redirect) }
        if step.waitMilliseconds != nil { return try await waited(step) }
        return try await sent(try await filled(step))
    }

    /// Returns the step with its answers.
    ///
    /// The error for a missing answer repeats the server's remarks on the page: it may have refused the answers that there were.
    private mutating func filled(_ step: JourneyStep) async throws -> JourneyStep {
        var filled = step
        do {
            try await form.fill(&filled)
        } catch var failure as Failure where failure.code == "answer.missing" {
            failure.message = ([failure.message] + step.infoTexts.map { "the server says: \($0.pageLine)" }).joined(
                separator: "; ")
            throw failure
        }
        return filled
    }

    /// Sends a step.
    ///
    /// A key that the step binds is confirmed when the server has accepted it. A key that it binds and a passkey that it registers
    /// are removed when the server rejects them.
    private func sent(_ step: JourneyStep) async throws -> JourneyState {
        do {
            let state = try await journeys.next(step, of: index, options: options)
            if let key = form.newKey { try await form.device.binding.confirm(key) }
            return state
        } catch let error as JourneyError where [.loginFailed, .policyFailed, .refused].contains(error.code) {
            if let key = form.newKey { try await form.device.binding.discard(key) }
            if let passkey = form.newPasskey { try await form.passkeys?.discard(passkey) }
            throw error
        }
    }

    // MARK: Waiting

    /// Waits for the time that the server asks for.
    ///
    /// If the step has a button, the user can end the wait with Enter.
    private mutating func waited(_ step: JourneyStep) async throws -> JourneyState {
        var step = step
        let time = min(max(.milliseconds(step.waitMilliseconds ?? 0), Self.minWait), Self.maxWait)
        guard waited + time <= timeout else {
            throw Failure(
                .unavailable, "journey.timedOut",
                "the server still asks to wait after \(timeout.components.seconds) seconds; --timeout allows more")
        }
        let began = ContinuousClock.now
        defer { waited += began.duration(to: .now) }
        let button = step.first(ConfirmationCallback.self)
        if let button, let label = button.options.first?.pageLine {
            let isPressed: Bool
            if form.prompts.hasAnswer(button.question(button.prompt, "confirmation")) {
                isPressed = true
            } else if form.prompts.hasUser {
                if label != shownButton { Console.error("Press Enter for '\(label)'.") }
                shownButton = label
                isPressed = try await TerminalInput.hasEnter(within: time)
            } else {
                try await Task.sleep(for: time)
                isPressed = false
            }
            if isPressed { try await press(button, in: &step) }
        } else {
            try await Task.sleep(for: time)
        }
        return try await journeys.next(step, of: index, options: options)
    }

    private var shownButton: String?

    private mutating func press(_ button: ConfirmationCallback, in step: inout JourneyStep) async throws {
        let question = button.question(button.prompt.isEmpty ? "Go on with" : button.prompt, "confirmation")
        let option = try await form.prompts.choice(question, of: button.options, default: 0)
        try step.fill(ConfirmationCallback.self) { try $0.select(option) }
    }

    // MARK: Links and redirects

    /// Resumes the journey at the link of an email.
    private mutating func resumed() async throws -> JourneyState {
        let question = Question(prompt: "Link from the email", names: ["link"], isSecret: true)
        guard form.prompts.hasUser || form.prompts.hasAnswer(question) else {
            throw Failure(
                .usage, "answer.missing",
                "the journey continues at the link of an email: use --resume --answer link=- and pass the link on standard input",
                part: "link")
        }
        while true {
            let link = try await form.prompts.text(question).trimmingWhitespace()
            do {
                return try await journeys.resume(link, options: options)
            } catch let error as JourneyError where error.code == .invalidResumeURI && form.prompts.hasUser {
                Console.error("That is not the link: \(error.message)")
            }
        }
    }

    /// Opens another provider's page in the browser, and resumes when the user has come back.
    private mutating func redirected(_ step: JourneyStep, _ redirect: RedirectCallback) async throws -> JourneyState {
        guard redirect.method.uppercased() == "GET" else {
            throw Failure(
                .notAllowed, "redirect", "the server wants a form to be posted elsewhere, which a terminal cannot: use --browser")
        }
        Self.show(redirect.url)
        // The browser may come late or never, so the user is asked meanwhile.
        async let _ = Self.open(redirect.url, within: timeout)
        let question = Question(prompt: "Address that the browser has come back to", names: ["address"], isSecret: true)
        let address = try await form.prompts.text(question).trimmingWhitespace()
        return try await journeys.next(step, returnedTo: address, of: index, options: options)
    }

    /// Opens the browser.
    ///
    /// Also prints the address, for a machine without a browser or a user at another machine.
    static func openBrowser(_ address: String, within timeout: Duration) async {
        show(address)
        await open(address, within: timeout)
    }

    private static func show(_ address: String) {
        Console.error("Open this address in a browser, if none opens by itself:\n  \(address)")
    }

    private static func open(_ address: String, within timeout: Duration) async {
        do {
            // The address contains the state of the login, so it must not be passed as an argument to another program.
            try await SystemBrowser.open(confidential: Secret(text: address), within: timeout)
        } catch {
            // The address was printed, so the user can open it.
        }
    }
}
