import SignetCore
import SignetJourney

/// Fills in a step with the answers of the user or of `--answer`, and with data about this machine.
struct StepPrompter {
    var prompts: PromptSession
    let device: DeviceAnswers
    /// The passkeys of the vault; nil when they are not to be used.
    let passkeys: PasskeyAnswers?
    /// The key that the current step binds; the server hasn't accepted it yet.
    private(set) var newKey: DeviceKey?
    /// The ID of the passkey that the current step registers; the server hasn't accepted it yet.
    private(set) var newPasskey: [UInt8]?
    /// The number of passwords that the journey has asked for.
    private var passwordCount = 0

    init(_ prompts: PromptSession, device: DeviceAnswers, passkeys: PasskeyAnswers?) {
        self.prompts = prompts
        self.device = device
        self.passkeys = passkeys
    }

    /// Fills in every callback, in the server's order.
    /// - Throws: ``Failure`` with exit code 77 for a step of OpenAM's WebAuthn modules, which can't be answered here.
    mutating func fill(_ step: inout JourneyStep) async throws {
        newKey = nil
        newPasskey = nil
        guard step.webAuthnModuleOptions == nil else {
            throw Failure(
                .notAllowed, "journey.passkey",
                "the server asks for a passkey in the form of OpenAM's WebAuthn module, which signet does not answer: log in with --browser"
                    + " or with another journey; no password was sent")
        }
        let asksForPasskey = step.asksForPasskey
        for case let callback as any ValidatedCallback in step.callbacks.compactMap(\.typed) {
            for failure in callback.failedPolicies { prompts.report("\(callback.prompt.pageLine): \(failure.message)") }
        }
        let unfilled = step.hiddenValuesOfScripts
        try await fillWhole(&step)
        for index in step.callbacks.indices {
            // In a step with a WebAuthn request, a password field is for the passkey's response, not for a password.
            if asksForPasskey, step.callbacks[index].type == PasswordCallback.type { continue }
            if let filled = try await filled(step.callbacks[index]) { step.callbacks[index] = filled }
        }
        for value in unfilled where step.callbacks.contains(value.callback) {
            Console.error(
                "Warning: a script of the server's page fills in '\(value.id)', and a terminal runs no scripts; give the value with"
                    + " --answer \(value.id)=VALUE.")
        }
    }

    /// Answers requests that span several callbacks, and requests that this machine answers without the user.
    private mutating func fillWhole(_ step: inout JourneyStep) async throws {
        if WebAuthnRequest(step) != nil {
            if let passkeys {
                newPasskey = try await passkeys.answer(&step, &prompts)
            } else {
                prompts.report("The server asks for a passkey, and is told that there is none (--no-passkeys).")
                try await step.answerWebAuthn(with: nil)
            }
        }
        if step.protectRequest != nil { try step.failProtect("Signet has no PingOne Protect") }
        if step.first(DeviceBindingCallback.self) != nil {
            switch try await step.answerDeviceBinding(with: device.binding) {
            case .bound(let key):
                newKey = key
                prompts.report("This device is bound, by a key in the vault.")
            case .failed(let failure): report("This device could not be bound", failure)
            }
        }
        if step.first(DeviceSigningVerifierCallback.self) != nil {
            if let failure = try await step.answerDeviceSigning(with: device.binding) {
                report("This device could not sign", failure)
            }
        }
    }

    /// Reports a device failure.
    ///
    /// One with a local cause is printed even if a program reads standard error: the server doesn't know the cause, and the user
    /// has to act on it.
    private func report(_ what: String, _ failure: DeviceFailure) {
        guard let cause = failure.cause else { return prompts.report("\(what): \(failure.clientError.rawValue)") }
        Console.error("signet: \(what.prefix(1).lowercased() + what.dropFirst()): \(Failure(cause).message)")
    }

    /// Returns the answered callback, or nil for a callback that needs no input here.
    private mutating func filled(_ callback: JourneyCallback) async throws -> JourneyCallback? {
        switch callback.typed {
        case is TextOutputCallback, is SuspendedTextOutputCallback, is PollingWaitCallback, is MetadataCallback,
            is LanguageCallback, is RedirectCallback, is DeviceBindingCallback, is DeviceSigningVerifierCallback,
            is PingOneProtectInitializeCallback, is PingOneProtectEvaluationCallback:
            break
        case var typed as HiddenValueCallback:
            // A journey continues without most hidden values, so the user is not asked for one.
            let question = Question(prompt: typed.id, names: [typed.id, HiddenValueCallback.type])
            guard prompts.hasAnswer(question) else { break }
            typed.value = try await prompts.text(question)
            return typed.callback
        case var typed as DeviceProfileCallback:
            prompts.report("The server is told what this machine is.")
            typed.fill(device.profile)
            return typed.callback
        case var typed as AppIntegrityCallback:
            typed.fail(.unsupported)
            return typed.callback
        case let typed?:
            if let filled = try await credential(typed) { return filled }
            if let filled = try await registration(typed) { return filled }
            if let filled = try await decision(typed) { return filled }
            return try await elsewhere(typed)
        case nil: return try await unknown(callback)
        }
        return nil
    }

    // MARK: Credentials

    private mutating func credential(_ callback: any TypedCallback) async throws -> JourneyCallback? {
        switch callback {
        case var typed as NameCallback:
            typed.name = try await prompts.text(
                typed.credentialQuestion(typed.prompt, "name", "username"), default: typed.name)
            return typed.callback
        case var typed as PasswordCallback:
            typed.fill(try await prompts.secret(passwordQuestion(typed, typed.prompt)))
            return typed.callback
        case var typed as TextInputCallback:
            typed.text = try await prompts.text(
                typed.credentialQuestion(typed.prompt, "text"), default: typed.text)
            return typed.callback
        default: return nil
        }
    }

    /// Returns the question for a password.
    ///
    /// The answer `password` is for the first password of the journey only, because a later page may be one that must not get it:
    /// OpenAM writes the answers to some of its modules to a log. Later passwords are answered by their prompt, or by their
    /// position in the journey (`password2`) or in the step (`IDToken2`). Codes are not counted.
    private mutating func passwordQuestion<Callback: TypedCallback>(_ callback: Callback, _ prompt: String) -> Question {
        let isField = callback is PasswordCallback
        if isField, prompt.pageLine.asksForOneTimeCode { return callback.question(prompt, naming: ["code"]) }
        passwordCount += 1
        let isFirst = passwordCount == 1
        let types = isFirst || !isField ? [Callback.shortType, Callback.type] : []
        return callback.question(prompt, naming: [isFirst ? "password" : "password\(passwordCount)"] + types)
    }

    // MARK: Registration

    private mutating func registration(_ callback: any TypedCallback) async throws -> JourneyCallback? {
        switch callback {
        case var typed as ValidatedCreateUsernameCallback:
            typed.username = try await prompts.text(typed.question(typed.prompt, "username", "name"), default: typed.username)
            return typed.callback
        case var typed as ValidatedCreatePasswordCallback:
            typed.fill(try await prompts.secret(passwordQuestion(typed, typed.prompt), isNew: true))
            return typed.callback
        case var typed as StringAttributeInputCallback:
            typed.value = try await prompts.text(typed.question(typed.prompt, typed.name), default: typed.value)
            return typed.callback
        case var typed as NumberAttributeInputCallback:
            try typed.fill(try await prompts.number(typed.question(typed.prompt, typed.name), default: typed.value))
            return typed.callback
        case var typed as BooleanAttributeInputCallback:
            typed.value = try await prompts.agreement(typed.question(typed.prompt, typed.name), default: typed.value)
            return typed.callback
        case var typed as KbaCreateCallback:
            let (question, answer) = try await securityQuestion(typed)
            try typed.fill(question: question, answer: answer)
            return typed.callback
        default: return nil
        }
    }

    private mutating func securityQuestion(_ callback: KbaCreateCallback) async throws -> (question: String, answer: String) {
        let own = "a question of my own"
        let options = callback.predefinedQuestions + (callback.allowsOwnQuestion ? [own] : [])
        let asked = callback.question(callback.prompt.isEmpty ? "Security question" : callback.prompt, "question")
        var question = options[try await prompts.choice(asked, of: options)]
        if question == own { question = try await prompts.text(callback.question("Your question", "ownquestion")) }
        return (question, try await prompts.secret(callback.question("Answer to '\(question)'", "answer")).text)
    }

    // MARK: Decisions

    private mutating func decision(_ callback: any TypedCallback) async throws -> JourneyCallback? {
        switch callback {
        case var typed as ChoiceCallback:
            try typed.select(
                try await prompts.choice(
                    typed.question(typed.prompt, "choice"), of: typed.choices, default: typed.defaultChoice))
            return typed.callback
        case var typed as ConfirmationCallback:
            guard !typed.options.isEmpty else { return nil }
            try typed.select(
                try await prompts.choice(
                    typed.question(typed.prompt.isEmpty ? "Go on with" : typed.prompt, "confirmation"), of: typed.options,
                    default: typed.defaultOption))
            return typed.callback
        case var typed as ConsentMappingCallback:
            let fields = typed.fields.isEmpty ? "" : " (\(typed.fields.joined(separator: ", ")))"
            let message = TerminalText(lines: typed.message.pageLines)
            prompts.report("\(typed.displayName.pageLine) wants \(typed.accessLevel)\(fields). \(message)")
            typed.isAccepted = try await prompts.agreement(typed.question("Consent", "consent"))
            return typed.callback
        case var typed as TermsAndConditionsCallback:
            prompts.report("\(TerminalText(lines: typed.terms.pageLines))\n(terms of version \(typed.version))")
            typed.isAccepted = try await prompts.agreement(typed.question("Accept the terms", "terms"))
            return typed.callback
        case var typed as SelectIdPCallback:
            let providers = typed.providers
            let labels = providers.map { $0.look["buttonDisplayName"]?.string ?? $0.name }
            let chosen = try await prompts.choice(typed.question("Log in with", "provider"), of: labels)
            try typed.select(providers[chosen].name)
            return typed.callback
        default: return nil
        }
    }

    // MARK: Tokens of other services

    private mutating func elsewhere(_ callback: any TypedCallback) async throws -> JourneyCallback? {
        switch callback {
        case var typed as IdPCallback:
            let token = try await prompts.secret(typed.question("Token of \(typed.provider)", "token"))
            let types = IdPCallback.TokenType.allCases
            let kind = try await prompts.choice(
                typed.question("Kind of token", "tokentype"), of: types.map(\.rawValue), default: 0)
            typed.fill(token: token, type: types[kind])
            return typed.callback
        case var typed as ReCaptchaCallback:
            typed.token = try await prompts.text(typed.question("reCAPTCHA token", "captcha"))
            return typed.callback
        case var typed as ReCaptchaEnterpriseCallback:
            typed.fill(token: try await prompts.text(typed.question("reCAPTCHA token", "captcha")))
            return typed.callback
        default: return nil
        }
    }

    /// Asks for the inputs of a callback type that this version doesn't know, after printing all of it.
    ///
    /// Inputs that neither the user nor `--answer` can fill in are returned unchanged.
    private mutating func unknown(_ callback: JourneyCallback) async throws -> JourneyCallback? {
        let outputs = callback.output.map { "\($0.name)=\(JSONText.line($0.value))" as TerminalText }.joined(separator: " ")
        prompts.report("\(callback.type), which this version does not know: \(outputs)")
        var callback = callback
        for index in (callback.input ?? []).indices {
            guard let input = callback.input?[index] else { continue }
            // The input can be anything; only the server's texts indicate a secret.
            let words = [callback.type, input.name] + callback.output.compactMap(\.value.string)
            let isPassword = words.contains { $0.plainWord.contains("password") }
            let question = Question(
                prompt: input.name, names: [input.name, callback.type],
                isSecret: isPassword || words.contains(where: \.asksForOneTimeCode), isHidden: isPassword)
            guard prompts.hasUser || prompts.hasAnswer(question) else { continue }
            let sent = input.value.string ?? JSON.text(of: input.value)
            let text = try await prompts.text(question, default: sent)
            // A value that wasn't a string stays JSON if the new text is valid JSON.
            if text != sent {
                let isText = input.value.string != nil || input.value == .null
                callback.input?[index].value = isText ? .string(text) : (try? JSON.value(of: text.utf8)) ?? .string(text)
            }
        }
        return callback
    }
}

extension TypedCallback {
    /// Returns a question for a credential.
    ///
    /// Servers ask for one-time codes in the same callbacks: for those the first name is `code`.
    fileprivate func credentialQuestion(_ prompt: String, _ names: String...) -> Question {
        let isCode = prompt.pageLine.asksForOneTimeCode
        var question = question(prompt, naming: (isCode ? ["code"] : []) + names + [Self.shortType, Self.type])
        question.isSecret = isCode
        return question
    }

    /// Returns a question.
    ///
    /// Its names are the given ones, then the callback type, the server's prompt and the names of the inputs.
    func question(_ prompt: String, _ names: String...) -> Question {
        question(prompt, naming: names + [Self.shortType, Self.type])
    }

    /// Returns a question with the given names, then the server's prompt and the names of the inputs.
    fileprivate func question(_ prompt: String, naming names: [String]) -> Question {
        let prompt = String(prompt.pageLine.trimmingWhitespace().reversed().drop { $0 == ":" }.reversed())
        return Question(
            prompt: prompt.isEmpty ? Self.shortType : prompt,
            names: (names + [prompt] + (callback.input ?? []).map(\.name)).filter { !$0.plainWord.isEmpty })
    }

    /// The type without its ending.
    fileprivate static var shortType: String { type.hasSuffix("Callback") ? String(type.dropLast("Callback".count)) : type }
}
