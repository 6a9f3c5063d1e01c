import ArgumentParser
import SignetAuthenticator
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTransfer

/// The error that ends a command: a line on standard error, and an exit code that scripts can rely on (docs/reference/cli.md).
struct Failure: Error {
    let exit: Exit
    var message: String
    /// The end of the message, with the solution; empty if there is nothing to advise.
    private var advice = ""
    /// True if the message consists of several lines; otherwise a line feed in it is escaped.
    private var hasLines = false
    /// The name of the invalid part of the input; nil if the error isn't about a part.
    var part: String?
    /// The error code in JSON output.
    var code: String

    /// The exit codes.
    ///
    /// Their numbers are those of sysexits(3), if that has a suitable one.
    enum Exit: Int32 {
        case usage = 64
        case badInput = 65
        case notFound = 66
        case unavailable = 69
        case software = 70
        case system = 71
        case alreadyExists = 73
        case store = 74
        case busy = 75
        case protocolBroken = 76
        case notAllowed = 77
        case noVault = 78
        case interrupted = 130
    }

    init(_ exit: Exit, _ code: String, _ message: String, part: String? = nil, hasLines: Bool = false) {
        self.exit = exit
        self.code = code
        self.message = message
        self.part = part
        self.hasLines = hasLines
    }

    /// The message without the advice, for a case in which the user cannot follow it.
    var reason: String { String(message.dropLast(advice.count)) }

    /// Returns the failure with another advice at the end of its message; empty for none.
    func advising(_ advice: String) -> Failure {
        var failure = self
        (failure.message, failure.advice) = (reason + advice, advice)
        return failure
    }

    /// Converts any error of the layers below.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as EnrollmentError:
            self.init(.badInput, "enrollment.\(error.code.rawValue)", error.description, part: error.part)
        case let error as ImportError:
            self.init(.badInput, "import.\(error.code.rawValue)", error.description, part: error.part)
        case let error as PictureError: self.init(picture: error)
        case let error as PushMessageError: self.init(.badInput, "pushMessage", error.description)
        case let error as StoreError: self.init(store: error)
        case let error as SyncError: self.init(sync: error)
        case let error as TransportError: self.init(transport: error)
        case let error as AuthenticatorError: self.init(authenticator: error)
        case let error as JourneyError:
            let exit: Exit =
                switch error.code {
                case .serverMisbehaved: .protocolBroken
                case .serverFailed: .unavailable
                case .invalidResumeURI, .invalidRequest: .badInput
                case .staleStep, .busy: .software
                default: .notAllowed
                }
            let sentences = [error.description.pageLine] + error.brokenRules
            self.init(exit, "journey.\(error.code.rawValue)", sentences.joined(separator: "; "))
        case let error as UserDeviceError: self.init(device: error)
        case let error as ProfileError:
            let way = error.fault.address?.host.map { ": --allow-http \($0)" } ?? ""
            self.init(.badInput, "profile", error.description + way, part: error.key.isEmpty ? nil : error.key)
        case let error as CallbackError:
            self.init(.badInput, "callback.\(error.code.rawValue)", error.description)
        case let error as EndpointError: self.init(.badInput, "endpoint", error.description)
        case let error as TokenError: self.init(token: error)
        case is CancellationError: self.init(.interrupted, "interrupted", "interrupted")
        default: self.init(.software, "unexpected", "unexpected failure: \(type(of: error))")
        }
    }

    /// Converts an error about a file, and names the file in the message.
    init(_ error: any Error, inFile file: String) {
        self.init(error)
        message = "\(TransferFile.inputName(file)): \(message)"
    }

    private init(store error: StoreError) {
        let exit: Exit =
            switch error.code {
            case .noVault, .keyUnavailable, .keyMismatch, .protectionTooWeak, .newerFormat, .rolledBack: .noVault
            case .notFound: .notFound
            case .exists: .alreadyExists
            case .busy: .busy
            case .cancelled: .interrupted
            case .denied, .insecurePermissions: .notAllowed
            case .invalid: .badInput
            default: .store
            }
        let way =
            error.code == .noVault
            ? "; 'signet enroll', 'import', 'backup restore' and 'login' make one; or make one with 'signet init', or with 'signet init --protect keyfile' where a file may keep its key"
            : ""
        let older = error.code == .rolledBack ? ": signet vault accept-rollback" : ""
        self.init(exit, "store.\(error.code.rawValue)", error.description + way + older)
    }

    private init(transport error: TransportError) {
        let exit: Exit =
            switch error.code {
            case .notHTTP, .tooLarge, .interrupted: .protocolBroken
            case .invalidRequest, .cannotPin: .badInput
            default: .unavailable
            }
        let advice =
            if error.mayConcernAuthority {
                "; if the server has an authority of its own, name the file with its certificate: --ca-file"
            } else {
                error.isRetryable ? "; try again" : ""
            }
        self.init(exit, "network.\(error.code.rawValue)", error.description + advice)
        self.advice = advice
    }

    private init(authenticator error: AuthenticatorError) {
        let exit: Exit =
            switch error.code {
            case .duplicateMechanism: .alreadyExists
            case .unknownAccount, .unknownMechanism, .unknownNotification: .notFound
            case .presenceRefused, .refusedByServer, .noPushStream, .accountLocked, .policyViolation, .notSupported,
                .counterElsewhere:
                .notAllowed
            case .registeredNotStored: .store
            case .serverMisbehaved: .protocolBroken
            default: .badInput
            }
        let advice =
            switch error.code {
            case .duplicateMechanism: "; 'signet enroll --replace' replaces it, --rename keeps both"
            case .counterElsewhere: "; 'signet sync take NAME' moves them to this machine"
            default: ""
            }
        self.init(exit, "authenticator.\(error.code.rawValue)", error.description + advice)
        self.advice = advice
    }

    private init(device error: UserDeviceError) {
        switch error.cause {
        case .network(let error): self.init(transport: error)
        case .storage(let error): self.init(store: error)
        case nil:
            let exit: Exit =
                switch error.code {
                case .notFound: .notFound
                case .invalidName, .notConfigured: .badInput
                case .unreachable: .unavailable
                case .serverMisbehaved: .protocolBroken
                case .cancelled: .interrupted
                default: .notAllowed
                }
            self.init(exit, "devices.\(error.code.rawValue)", error.description)
        }
    }

    private init(token error: TokenError) {
        switch error.cause {
        case .network(let error): self.init(transport: error)
        case .storage(let error): self.init(store: error)
        case let cause:
            let exit: Exit =
                switch error.code {
                case .loginRequired, .interactionRequired: .notAllowed
                case .refused: if case .server(let error) = cause, error.isForeign { .protocolBroken } else { .notAllowed }
                case .idTokenRefused: .protocolBroken
                case .unreachable: if case .server(let error) = cause, error.isForeign { .protocolBroken } else { .unavailable }
                case .storage: .store
                case .notConfigured: .badInput
                case .cancelled: cause == nil ? .interrupted : .unavailable
                default: .software
                }
            self.init(exit, "token.\(error.code.rawValue)", cause?.description ?? error.description)
        }
    }

    private init(picture error: PictureError) {
        let exit: Exit =
            switch error {
            case .libraryMissing: .unavailable
            case .notThere: .notFound
            case .denied: .notAllowed
            case .unreadable, .tooLarge, .unknownFormat, .damaged, .noCode, .severalCodes: .badInput
            }
        self.init(exit, "picture", error.description)
    }

    /// Prints the error and ends the process.
    static func report(_ error: any Error) -> Never {
        // Errors of the argument parser that aren't failures: an exit code whose message is printed already, and a request for
        // help.
        if error is ArgumentParser.ExitCode { Signet.exit(withError: error) }
        if Signet.exitCode(for: error) == .success { HelpText.show(error) }
        Failure(error).report()
    }

    /// Prints the error for invalid arguments and ends the process.
    static func reportUsage(_ error: any Error) -> Never {
        if Signet.exitCode(for: error) == .success { HelpText.show(error) }
        guard Signet.exitCode(for: error) == .validationFailure else { Signet.exit(withError: error) }
        reportUsage(
            saying: UnknownCommand.message(in: CommandLine.arguments.dropFirst())
                ?? String(Signet.fullMessage(for: error, columns: HelpText.columns).trimmingPrefix("Error: ")))
    }

    /// Prints a message about invalid arguments and ends the process.
    ///
    /// The message repeats arguments, so URIs in it, which may contain secrets, are replaced, and line feeds in arguments are
    /// escaped.
    static func reportUsage(saying words: String) -> Never {
        // The message may contain an option's value without the option's name.
        let arguments = CommandLine.arguments.flatMap(Redaction.values).sorted { $0.count > $1.count }
        let message = arguments.reduce(words) { message, argument in
            if argument.contains("://") { return message.replacing(argument, with: Redaction.replacement) }
            return argument.contains("\n") ? message.replacing(argument, with: "\(TerminalText(argument))") : message
        }
        Failure(.usage, "usage", message, hasLines: true).report()
    }

    private func report() -> Never {
        show()
        Signet.exit(withError: ArgumentParser.ExitCode(exit.rawValue))
    }

    /// Prints the error on standard error, with `--json` as a line of JSON.
    ///
    /// The process goes on.
    func show() {
        if CommandLine.arguments.contains("--json") {
            var members: [String: JSONValue] = [
                "code": .string(code), "message": .string(Redaction.withoutSecrets(message)),
            ]
            members["part"] = part.map { .string(Redaction.withoutSecrets($0)) }
            Console.error(JSONText.line(.object(["error": .object(members)])))
        } else {
            // The terminal has printed `^C`, possibly after a prompt.
            if code == "interrupted", Console.showsToUser { Console.error("") }
            let lines = hasLines ? HelpText.wrappingUsage(in: message, columns: HelpText.columns) : message
            Console.error("signet: \(hasLines ? TerminalText(lines: lines) : TerminalText(lines))")
        }
    }
}

extension JourneyError {
    /// The violated rules, one text for each, with the name of the attribute.
    fileprivate var brokenRules: [String] {
        failedPolicies.flatMap { policy in policy.requirements.map { "\(policy.property): \($0.message)" } }
    }
}

extension OAuthError {
    /// True when the response probably isn't from an OAuth 2.0 server: a captive portal's page, for example.
    fileprivate var isForeign: Bool {
        switch code {
        case .unreadable, .repeatedMember, .unusableToken, .noCode, .stateMismatch, .issuerMismatch: true
        default: false
        }
    }
}
