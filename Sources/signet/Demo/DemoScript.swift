import Foundation
import SignetCore
import SignetJourney

/// The steps of the demo, in order.
///
/// Each step does one thing, checks the result, and is one row of the summary.
struct DemoScript {
    let environment: DemoEnvironment

    func run() async throws {
        Console.line("Signet demo: a login server, an authenticator, and the person between them.")
        Console.line("Everything is in \(environment.home) and is removed at the end.")
        var steps = DemoSteps()
        do {
            try await runSteps(&steps)
        } catch _ where Task.isCancelled {
            // After a cancellation, the operation under way fails with an error of its own.
            throw CancellationError()
        } catch {
            steps.printSummary()
            let why = (error as? DemoFailure)?.description ?? Failure(error).message
            Console.error("\nsignet: the demo failed at step \(steps.count), \(steps.current): \(why)")
            throw DemoFailure(why)
        }
        steps.printSummary()
        Console.line("\nAll \(steps.count) steps succeeded.")
    }

    private func runSteps(_ steps: inout DemoSteps) async throws {
        let server = try await steps.perform("start the server in its own process") {
            let server = try await environment.startServer()
            return (server, "\(server.url), process \(server.process.identifier)")
        }
        defer { server.process.stop() }
        _ = try await steps.perform("make a vault") {
            ((), try await environment.signet("init", "--protect", "keyfile").components(separatedBy: "\n")[0])
        }
        try await enrollCodes(server.browser, &steps)
        let second = try await enrollSecondAccount(server, &steps)
        try await enrollPush(server.browser, &steps)
        try await answerPushes(server, &steps)
        try await reopen(second.browser, second.settings, &steps)
        _ = try await steps.perform("stop the server") {
            let status = server.process.stop()
            guard status == 0 else { throw DemoFailure("it ended with \(status)") }
            return ((), "it ended with 0")
        }
    }

    // MARK: One-time codes

    private func enrollCodes(_ browser: Browser, _ steps: inout DemoSteps) async throws {
        let (state, picture) = try await steps.perform("log in and ask for one-time codes; the server shows a QR code") {
            let state = try await browser.begin("OATHRegistration")
            let (_, picture) = try draw(try Browser.step(state), "totp.png")
            return ((state, picture), "written to totp.png")
        }
        _ = try await steps.perform("scan the picture into the vault") {
            ((), try await environment.signet("enroll", picture).components(separatedBy: "\n")[0])
        }
        let code = try await steps.perform("type the code into the login page; the server accepts it") {
            let code = try await environment.signet("code", browser.user)
            try await browser.logIn(code: code, into: state)
            return (code, "\(code) accepted")
        }
        _ = try await steps.perform("type the same code again; the server refuses it") {
            let outcome = try await refusal { try await browser.enter(code: code, into: try await browser.begin("OATHLogin")) }
            return ((), "\(code) refused: \(outcome)")
        }
    }

    /// Enrolls an account of a second user.
    ///
    /// The journey asks for no code, so the first code of this account is still unused when the vault is opened again. The first
    /// user would have to wait for another code, because the server accepts each code once.
    private func enrollSecondAccount(
        _ server: DemoEnvironment.Server, _ steps: inout DemoSteps
    ) async throws -> (browser: Browser, settings: OATHSettings) {
        try await steps.perform("enroll an account of a second user, with recovery codes") {
            let password = Base64.encode(Secret.random(byteCount: 16).bytes, as: .url)
            try await server.administration.addUser("kim", password: password)
            let browser = Browser(journey: server.browser.journey, user: "kim", password: password)
            let state = try await browser.begin("RecoveryRegistration")
            let (uri, picture) = try draw(try Browser.step(state), "second.png", inTerminal: false)
            guard let settings = try EnrollmentURI.parse(uri).oath else { throw DemoFailure("the QR code offers no codes") }
            let line = try await environment.signet("enroll", picture).components(separatedBy: "\n")[0]
            try await browser.confirm(from: state)
            return ((browser, settings), line)
        }
    }

    // MARK: Push

    private func enrollPush(_ browser: Browser, _ steps: inout DemoSteps) async throws {
        _ = try await steps.perform("register for push from another QR code") {
            let state = try await browser.begin("PushRegistration")
            let (_, picture) = try draw(try Browser.step(state), "push.png", inTerminal: false)
            let line = try await environment.signet("enroll", picture).components(separatedBy: "\n")[0]
            guard case .loggedIn = try await browser.wait(from: state) else {
                throw DemoFailure("the login page did not show that the device was registered")
            }
            return ((), line)
        }
    }

    private func answerPushes(_ server: DemoEnvironment.Server, _ steps: inout DemoSteps) async throws {
        let push = DemoPush(environment: environment, browser: server.browser, administration: server.administration)
        _ = try await steps.perform("log in; approve with a tap") { ((), try await push.approveByTap()) }
        _ = try await steps.perform("log in; pick a wrong number, then the right one") { ((), try await push.approveByNumber()) }
        _ = try await steps.perform("log in; approve with biometrics (simulated, and reported as such)") {
            ((), try await push.approveByBiometrics())
        }
        _ = try await steps.perform("log in; deny it, and the login fails") { ((), try await push.deny()) }
        _ = try await steps.perform("log in; answer nothing, and it expires") { ((), try await push.letExpire()) }
    }

    // MARK: Afterwards

    private func reopen(_ browser: Browser, _ totp: OATHSettings, _ steps: inout DemoSteps) async throws {
        _ = try await steps.perform("open the vault again in a new process; the codes are still right") {
            let code = try await environment.signet("code", browser.user)
            let oathtool = try await environment.oathtoolCode(totp)
            // The next code can begin between the two.
            let later = oathtool == nil || oathtool == code ? code : try await environment.signet("code", browser.user)
            guard oathtool == nil || oathtool == code || oathtool == later else {
                throw DemoFailure("oathtool says \(oathtool ?? "nothing"), signet \(code)")
            }
            try await browser.logIn(code: code, into: try await browser.begin("OATHLogin"))
            return (
                (), "\(code) accepted by the server" + (oathtool == nil ? "; oathtool is not installed" : ", and oathtool agrees")
            )
        }
    }

    private func draw(_ step: JourneyStep, _ name: String, inTerminal: Bool = true) throws -> (uri: String, path: String) {
        guard let uri = step.hiddenValue("mfaDeviceRegistration") else { throw DemoFailure("the login page shows no QR code") }
        let drawing = try QRDrawing(text: uri)
        let path = "\(environment.home)/\(name)"
        try Data(drawing.png()).write(to: URL(filePath: path))
        if inTerminal { Console.line(TerminalText(verbatim: drawing.terminalText(ansi: Console.isTerminal))) }
        return (uri, path)
    }
}

/// Runs a journey that must fail with the server's rejection, and returns the server's message.
func refusal(_ body: () async throws -> JourneyState) async throws -> String {
    do {
        _ = try await body()
    } catch let error as JourneyError where error.code == .loginFailed {
        return error.message
    }
    throw DemoFailure("the server accepted the code again")
}
