import SignetCore

/// The view of a step of any journey as a page.
///
/// The page works without scripts where that is possible. A browser without scripts reloads a page that waits. A callback that a
/// page cannot process (a key on a phone, another system's check) says so, and offers to continue without it.
struct StepView: Sendable {
    let step: JourneyStep
    let form: FormHandle
    /// The time in milliseconds until the step is sent again; nil when the step does not wait.
    let wait: Int?
    /// The URL at which a script polls for the end of the wait.
    let pollAddress: String
    /// True when the step asks again what the user has just answered.
    let isRepeated: Bool
    /// The user's earlier inputs, if the page shows them again.
    let kept: KeptInputs?
    /// The push message that the step waits for.
    let push: PushWait?
    /// The fields that ask for a code, as far as their nodes tell.
    let codes: CodeFields
    /// The address that starts the login again.
    let again: String
    /// The address of the page at which testers choose a user; nil for no link.
    let picker: String?
    private let facts: StepFacts
    private let views: [CallbackView]

    /// Creates the view of a step, with the properties of the same names.
    init(
        step: JourneyStep, form: FormHandle, wait: Int?, pollAddress: String, isRepeated: Bool = false, kept: KeptInputs? = nil,
        push: PushWait? = nil, codes: CodeFields = .none, again: String = "", picker: String? = nil
    ) {
        (self.step, self.form, self.wait, self.pollAddress) = (step, form, wait, pollAddress)
        (self.isRepeated, self.kept, self.push, self.codes) = (isRepeated, kept, push, codes)
        (self.again, self.picker) = (again, picker)
        facts = StepFacts(step)
        views = Self.views(of: step, facts, codes, kept, isRepeated: isRepeated)
    }

    var page: HTMLPage {
        HTMLPage(
            title: title, content: description + notice + summary + body + pickerLink,
            refresh: wait.map { max(1, ($0 + 999) / 1000) })
    }

    private var pickerLink: Markup {
        guard let picker else { return .nothing }
        return tag("p", ["class": "quiet picker"]) { tag("a", ["href": picker]) { localized(.chooseTestUser) } }
    }

    // MARK: Texts

    private var title: String {
        if let header = step.header, !header.isEmpty { return PageLanguage.current.nodeText(header) }
        if facts.challengeNumber != nil { return localized(.chooseNumber) }
        if facts.registration != nil { return localized(.addDevice) }
        if facts.recoveryCodes != nil { return localized(.yourRecoveryCodes) }
        if let webAuthn = facts.webAuthn { return localized(webAuthn.createsPasskey ? .createPasskey : .usePasskey) }
        if step.callback("SuspendedTextOutputCallback") != nil { return localized(.lookInMail) }
        let fields = views.filter(\.isField)
        if !fields.isEmpty, fields.allSatisfy(\.asksQuestion) {
            return localized(fields.count == 1 ? .answerQuestion : .answerQuestions)
        }
        if let view = fields.first(where: \.asksCode) {
            return localized(view.asksRecoveryCode ? .useRecoveryCode : .enterCode)
        }
        if push != nil { return localized(.approveOnDevice) }
        return localized(wait != nil ? .pleaseWait : .signIn)
    }

    private var description: Markup {
        guard let description = step.description, !description.isEmpty else { return .nothing }
        return tag("p", ["class": "quiet"]) { PageLanguage.current.nodeText(description) }
    }

    /// The message that the last answer was not accepted, unless the step itself says why.
    private var notice: Markup {
        guard isRepeated, views.contains(where: \.isField), views.allSatisfy({ $0.errors.isEmpty }) else { return .nothing }
        return PagePart.alert(repetitionText(views))
    }

    /// The text for a page that comes again.
    private func repetitionText(_ views: [CallbackView]) -> String {
        if views.contains(where: \.asksRecoveryCode) {
            return localized(.recoveryCodeRejected)
        }
        if views.contains(where: \.asksCode) { return localized(.codeRejected) }
        if views.contains(where: \.asksPassword) {
            let asksName = views.contains { $0.callback.type == "NameCallback" }
            return localized(asksName ? .credentialsRejected : .passwordRejected)
        }
        if views.contains(where: \.isField), views.filter(\.isField).allSatisfy(\.asksQuestion) {
            return localized(.answerRejected)
        }
        return localized(.inputRejected)
    }

    /// The summary of all errors at the top of the page, with a link to each field.
    private var summary: Markup {
        let wrong = views.filter { !$0.errors.isEmpty }
        guard !wrong.isEmpty else { return .nothing }
        return tag(
            "div", ["class": "note error", "role": "alert", "tabindex": "-1", "autofocus": "", "aria-labelledby": "summary"]
        ) {
            tag("p", ["id": "summary"]) { localized(.lookAgain) }
            tag("ul") {
                for view in wrong {
                    tag("li") {
                        tag("a", ["href": "#\(view.id)"]) { "\(view.shownPrompt): \(view.errors.joined(separator: " "))" }
                    }
                }
            }
        }
    }

    // MARK: Parts

    /// Returns the views of the callbacks; the first field has the focus, unless a message has it.
    private static func views(
        of step: JourneyStep, _ facts: StepFacts, _ codes: CodeFields, _ kept: KeptInputs?, isRepeated: Bool
    ) -> [CallbackView] {
        var hasFocus = false
        let all = step.callbacks.enumerated().map {
            CallbackView(callback: $1, index: $0, facts: facts, code: codes[$0], kept: kept?.value(of: $1))
        }
        let isWrong = isRepeated || all.contains { !$0.errors.isEmpty }
        return all.map { view in
            var view = view
            if !isWrong, !hasFocus, view.isField { (view.isFocused, hasFocus) = (true, true) }
            return view
        }
    }

    private var body: Markup {
        let buttons = Markup.joined(views.map(\.buttons))
        let submission: Markup.Attributes = ["data-submit": Markup.flag(sendsItself)]
        return form.markup(stage: step.pageStage, submission + (facts.webAuthn?.attributes ?? [:])) {
            let shown = Markup.joined(views.map(\.markup))
            shown
            if shown.isInvisible, buttons == .nothing, wait == nil, facts.webAuthn == nil {
                tag("p") { localized(.nothingToDo) }
            }
            if wait != nil { waiting }
            if facts.webAuthn != nil { passkey }
            if buttons != .nothing || needsButton {
                tag("div", ["class": "buttons"]) {
                    if buttons == .nothing { PagePart.button(label) } else { buttons }
                }
            }
            if let push { pushButtons(push) }
        }
    }

    /// The buttons of a page that waits for a device: to send the message again, and to start over.
    private func pushButtons(_ push: PushWait) -> Markup {
        tag("div", ["class": "buttons"]) {
            if push.canBeResent {
                PagePart.button(localized(.sendAgain), name: LoginFlow.resendInput, value: "true", isMain: false)
            }
            tag("a", ["href": again, "class": "button plain"]) { localized(.cancel) }
        }
    }

    /// True when the script of the page sends the form at once, because the browser has all that the step asks for.
    ///
    /// A step that was not accepted waits for the user, so that the page is not sent over and over.
    private var sendsItself: Bool {
        !isRepeated && !step.callbacks.isEmpty && step.callbacks.allSatisfy { $0.type == "DeviceProfileCallback" }
    }

    /// True when the step needs a button to continue.
    ///
    /// It does not if an email continues it, if it asks for a passkey, or if it only waits.
    private var needsButton: Bool {
        guard step.callback("SuspendedTextOutputCallback") == nil, facts.webAuthn == nil else { return false }
        return wait == nil || views.contains(where: \.isField)
    }

    /// The label of the button: that of the stage, which PingOne AIC stores as JSON with `submitButtonText` by language.
    private var label: String {
        let stage = step.pageStage.flatMap { try? JSON.value(of: $0.utf8) }
        if let given = stage?["submitButtonText"].flatMap({ LocalizedText($0) }) {
            let text = given.text(for: PageLanguage.current.preferences)
            if !text.isEmpty { return text }
        }
        return standardLabel
    }

    private var standardLabel: String { localized(views.contains(where: \.asksPassword) ? .signIn : .continueLabel) }

    /// The script of the page requests the passkey.
    ///
    /// Without scripts, the user can only continue without a passkey.
    private var passkey: Markup {
        let (creates, autofills) = (facts.webAuthn?.createsPasskey == true, facts.webAuthn?.isOfferedInAutofill == true)
        return tag("p", ["hidden": "", "data-scripted": ""]) { passkeyExplanation }
            + (autofills ? autofillField : .nothing)
            + tag("div", ["class": "note warning", "role": "alert", "hidden": "", "data-problem": ""]) {
                tag("p") { localized(.passkeyAddress) }
            }
            + tag("noscript") {
                tag("p") { localized(.passkeyNeedsScripts) }
                tag("div", ["class": "buttons"]) {
                    PagePart.button(localized(.goOnWithout), name: facts.webAuthn?.input, value: "unsupported", isMain: false)
                }
            }
            + tag("div", ["class": "buttons", "hidden": "", "data-scripted": ""]) {
                tag("button", ["type": "button", "data-start": "", "autofocus": Markup.flag(!autofills)]) {
                    localized(creates ? .createPasskey : .usePasskey)
                }
                tag("button", ["type": "button", "class": "plain", "data-skip": ""]) { localized(.goOnWithout) }
            }
    }

    private var passkeyExplanation: String {
        guard let webAuthn = facts.webAuthn, !webAuthn.createsPasskey else {
            return localized(.passkeyAbout)
        }
        return localized(webAuthn.findsUser ? .passkeyFinds : .passkeyAsks)
    }

    /// The field in which the browser offers passkeys.
    ///
    /// It has no name, so it is not sent.
    private var autofillField: Markup {
        tag("div", ["class": "field", "hidden": "", "data-autofill": ""]) {
            tag("label", ["for": "autofill"]) { localized(.userName) }
            void(
                "input",
                [
                    "id": "autofill", "autocomplete": "username webauthn", "autocapitalize": "none", "spellcheck": "false",
                    "autofocus": "",
                ])
        }
    }

    private var waiting: Markup {
        guard let push else { return waitLine }
        let text = push.user.isEmpty ? localized(.approveSignIn) : localized(.approveSignInOf, ["user": push.user])
        return tag("p") { text } + waitLine
    }

    private var waitLine: Markup {
        tag(
            "div",
            [
                "class": "wait", "role": "status", "aria-live": "polite", "data-wait": wait.map { String($0) },
                "data-poll": pollAddress,
            ]
        ) {
            tag("span", ["class": "pulse", "aria-hidden": "true"])
            tag("span") { facts.waitMessage.map { PageLanguage.current.nodeText($0) } ?? localized(.waiting) }
            if let push { timeLeft(push.secondsLeft) }
        }
    }
}

extension StepView {
    /// The time until the push message expires, which the page's script counts down.
    fileprivate func timeLeft(_ seconds: Int) -> Markup {
        let rest = seconds % 60
        return tag("span", ["class": "left", "data-left": String(seconds), "aria-hidden": "true"]) {
            "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
        }
    }
}

/// The combined information of all callbacks of a step.
struct StepFacts: Sendable {
    /// The URI in the QR code for an authenticator; nil when the step registers no device.
    let registration: String?
    /// The number that the user chooses on the device.
    let challengeNumber: String?
    let waitMessage: String?
    let recoveryCodes: ShownRecoveryCodes?
    let webAuthn: WebAuthnRequest?

    /// The URI schemes of authenticators.
    ///
    /// A page does not link to other URLs from hidden values.
    private static let schemes = ["otpauth://", "pushauth://", "mfauth://"]

    init(_ step: JourneyStep) {
        let hidden = step.callbacks.filter { $0.type == "HiddenValueCallback" }.compactMap { $0.output("value")?.string }
        registration = hidden.first { value in Self.schemes.contains { value.hasPrefix($0) } }
        challengeNumber = step.hiddenValue("pushChallengeNumber")
        waitMessage = step.callback("PollingWaitCallback")?.output("message")?.string
        let scripts = step.callbacks.filter(\.isScript).compactMap { $0.output("message")?.string }
        recoveryCodes = scripts.lazy.compactMap { ShownRecoveryCodes(script: $0) }.first
        webAuthn = WebAuthnRequest(step, scripts: scripts)
    }

    /// True when the scripts of the step only do what the page already does.
    var explainsScripts: Bool { registration != nil || recoveryCodes != nil || webAuthn != nil || challengeNumber != nil }
}

extension JourneyCallback {
    /// True when the text is a script for browsers.
    ///
    /// The pages of this server never run it.
    var isScript: Bool { type == "TextOutputCallback" && output("messageType")?.string == "4" }
}

/// Recovery codes, which the user sees only once.
struct ShownRecoveryCodes: Sendable, Hashable {
    let codes: [String]

    /// Reads the codes from AM's browser script, in which they are string literals that end in a newline (protocol/journey.md
    /// section 2.7).
    init?(script: String) {
        guard script.lowercased().contains("recovery codes") else { return nil }
        codes = script.split(separator: "\\n").dropLast().compactMap { part in
            let code = part.suffix(while: { !"\"'".contains($0) })
            let isWord = code.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-".utf8.contains($0) }
            return code.isEmpty || !isWord ? nil : String(code)
        }
        guard !codes.isEmpty else { return nil }
    }
}

extension Substring {
    /// Returns the longest suffix whose characters all satisfy `condition`.
    fileprivate func suffix(while condition: (Character) -> Bool) -> Substring {
        guard let last = lastIndex(where: { !condition($0) }) else { return self }
        return self[index(after: last)...]
    }
}
