import SignetCore

/// The view of one callback on a page.
struct CallbackView: Sendable {
    let callback: JourneyCallback
    let index: Int
    let facts: StepFacts
    /// The kind of the code for which its node asks; nil when the node does not tell.
    let code: CodeFields.Kind?
    /// The user's earlier input, if the page shows it again.
    var kept: String?
    /// True when the page opens with the focus on this callback.
    var isFocused = false

    /// The name of the input without a suffix, which is also the id of its field.
    var id: String { callback.inputIndex("").flatMap { callback.input?[$0].name } ?? "callback\(index)" }

    var prompt: String { text("prompt") ?? text("name") ?? callback.type }
    /// The prompt in the language of the page.
    var shownPrompt: String { PageLanguage.current.nodeText(prompt) }

    /// True when the callback asks for a one-time code or a recovery code.
    ///
    /// If the node does not tell, only the prompt indicates this.
    var asksCode: Bool { code != nil || (callback.type == "NameCallback" && prompt.asksForOneTimeCode) }
    /// True when the callback asks for a recovery code, which can contain letters.
    var asksRecoveryCode: Bool { code.map { $0 == .recoveryCode } ?? (asksCode && prompt.lowercased().contains("recovery")) }

    /// True when the callback asks for a password.
    ///
    /// KBA Verification uses the same callback for security questions, with the question as its prompt.
    var asksPassword: Bool {
        guard callback.type == "PasswordCallback", code == nil else { return false }
        return prompt == "Password" || prompt.lowercased().contains("password")
    }
    var asksQuestion: Bool { callback.type == "PasswordCallback" && code == nil && !asksPassword }

    /// The messages about policies that the value does not comply with.
    var errors: [String] {
        (callback.output("failedPolicies")?.array ?? []).map { PageLanguage.current.instruction(for: $0) }
    }

    /// The messages as markup for the end of a field.
    var errorList: Markup {
        errors.isEmpty
            ? .nothing : tag("ul", ["class": "errors", "id": "\(id)-errors"]) { for error in errors { tag("li") { error } } }
    }

    /// True when the user can fill in something.
    var isField: Bool {
        switch callback.type {
        case "NameCallback", "PasswordCallback", "TextInputCallback", "ChoiceCallback", "ValidatedCreateUsernameCallback",
            "ValidatedCreatePasswordCallback", "StringAttributeInputCallback", "NumberAttributeInputCallback",
            "BooleanAttributeInputCallback", "TermsAndConditionsCallback", "ConsentMappingCallback", "KbaCreateCallback",
            "ReCaptchaCallback", "IdPCallback":
            true
        default: false
        }
    }

    var markup: Markup {
        switch callback.type {
        case "NameCallback", "PasswordCallback", "TextInputCallback", "ValidatedCreateUsernameCallback",
            "ValidatedCreatePasswordCallback", "StringAttributeInputCallback", "NumberAttributeInputCallback":
            FieldView(view: self).markup
        case "BooleanAttributeInputCallback":
            check(shownPrompt, isOn: kept.map { _ in true } ?? callback.output("value")?.bool ?? false)
        case "ChoiceCallback": choice
        case "TextOutputCallback", "SuspendedTextOutputCallback": message
        case "HiddenValueCallback": hiddenValue
        case "TermsAndConditionsCallback": terms
        case "ConsentMappingCallback": consent
        case "KbaCreateCallback": QuestionView(view: self).markup
        case "ConfirmationCallback": (text("prompt") ?? "").isEmpty ? .nothing : tag("p") { shownPrompt }
        // These callbacks show nothing themselves, or the page as a whole shows them.
        case "PollingWaitCallback", "MetadataCallback", "PingOneProtectInitializeCallback", "PingOneProtectEvaluationCallback",
            "SelectIdPCallback":
            .nothing
        default: OtherView(view: self).markup
        }
    }

    /// The buttons that continue the journey.
    ///
    /// They are at the end of the page.
    var buttons: Markup {
        switch callback.type {
        case "ConfirmationCallback": confirmation
        case "SelectIdPCallback": providers
        case "DeviceBindingCallback", "DeviceSigningVerifierCallback", "AppIntegrityCallback":
            errorInput.map { PagePart.button(localized(.goOnWithout), name: $0, value: "Unsupported") } ?? .nothing
        default: .nothing
        }
    }

    // MARK: Outputs and inputs

    func text(_ name: String) -> String? { callback.output(name)?.string }

    private func texts(_ name: String) -> [String] { (callback.output(name)?.array ?? []).compactMap(\.string) }

    private func number(_ name: String) -> Int { callback.output(name)?.lenientInteger.flatMap { Int(exactly: $0) } ?? 0 }

    private var errorInput: String? { callback.inputIndex("clientError").flatMap { callback.input?[$0].name } }

    // MARK: Parts

    private var message: Markup {
        let text = text("message") ?? ""
        let shown = PageLanguage.current.nodeText(text)
        switch self.text("messageType") {
        case "1": return tag("div", ["class": "note warning", "role": "note"]) { tag("p") { shown } }
        case "2": return tag("div", ["class": "note error", "role": "alert"]) { tag("p") { shown } }
        case "4":
            if let codes = facts.recoveryCodes, ShownRecoveryCodes(script: text) == codes { return recovery(codes) }
            guard !facts.explainsScripts else { return .nothing }
            return tag("p", ["class": "quiet"]) { localized(.scriptNotRun) }
        default:
            // The wait message and the recovery codes are already on the page, so they are not repeated.
            guard text != facts.waitMessage, facts.recoveryCodes?.codes.allSatisfy(text.contains) != true else { return .nothing }
            guard callback.type == "SuspendedTextOutputCallback" else { return tag("p") { shown } }
            return tag("p") { shown }
                + tag("p", ["class": "quiet"]) { localized(.emailsInConsole) }
        }
    }

    private func recovery(_ codes: ShownRecoveryCodes) -> Markup {
        tag("p") { localized(.recoveryCodesAbout) }
            + tag("ul", ["class": "codes", "id": "codes"]) { for code in codes.codes { tag("li") { tag("code") { code } } } }
            + tag("div", ["class": "buttons", "hidden": "", "data-scripted": ""]) {
                PagePart.copyButton("#codes code")
                tag("button", ["type": "button", "class": "plain", "data-download": "#codes code"]) { localized(.download) }
            }
            + tag("label", ["class": "check"]) {
                void("input", ["type": "checkbox", "required": "", "autofocus": ""])
                tag("span") { localized(.recoveryCodesKept) }
            }
    }

    private var hiddenValue: Markup {
        guard let value = text("value") else { return .nothing }
        if value == facts.registration { return RegistrationView(uri: value).markup }
        switch text("id") {
        case "pushChallengeNumber": return tag("p", ["class": "number"]) { value }
        // The script of the page sets the name and the value of the input when it sends the form. Without scripts, a button sends
        // the value under the same name, so the input has no name here, to avoid sending two values.
        case "webAuthnOutcome": return void("input", ["type": "hidden", "id": id])
        // The value is returned to the server, as AM's page does.
        default: return void("input", ["type": "hidden", "name": id, "value": value])
        }
    }

    /// Returns a checkbox with its error messages.
    func check(_ label: String, isOn: Bool, isRequired: Bool = false) -> Markup {
        tag("div", ["class": "field"]) {
            tag("label", ["class": "check"]) {
                void(
                    "input",
                    [
                        "type": "checkbox", "id": id, "name": id, "value": "true", "checked": Markup.flag(isOn),
                        "required": Markup.flag(isRequired), "autofocus": Markup.flag(isFocused),
                        "aria-describedby": errors.isEmpty ? nil : "\(id)-errors",
                    ])
                tag("span") { label }
            }
            errorList
        }
    }

    private var choice: Markup {
        let choices = texts("choices")
        let defaultIndex = kept.flatMap { Int($0) }.flatMap { choices.indices.contains($0) ? $0 : nil } ?? number("defaultChoice")
        guard choices.count <= 5 else {
            return tag("div", ["class": "field"]) {
                tag("label", ["for": id]) { shownPrompt }
                tag("select", ["id": id, "name": id, "autofocus": Markup.flag(isFocused)]) {
                    for (index, choice) in choices.enumerated() {
                        tag("option", ["value": String(index), "selected": Markup.flag(index == defaultIndex)]) { choice }
                    }
                }
            }
        }
        return tag("fieldset", ["class": "field"]) {
            tag("legend") { shownPrompt }
            for (index, choice) in choices.enumerated() {
                tag("label", ["class": "check"]) {
                    void(
                        "input",
                        [
                            "type": "radio", "name": id, "value": String(index), "checked": Markup.flag(index == defaultIndex),
                            "autofocus": Markup.flag(isFocused && index == defaultIndex),
                        ])
                    tag("span") { choice }
                }
            }
        }
    }

    private var terms: Markup {
        let day = (text("createDate") ?? "").prefix(10)
        let values = ["version": text("version") ?? "", "day": String(day)]
        return tag("div", ["class": "terms", "tabindex": "0", "role": "region", "aria-label": localized(.terms)]) {
            for paragraph in (text("terms") ?? "").split(separator: "\n") { tag("p") { String(paragraph) } }
        }
            + tag("p", ["class": "quiet"]) { localized(day.isEmpty ? .termsVersion : .termsVersionOf, values) }
            + check(localized(.acceptTerms), isOn: kept != nil, isRequired: true)
    }

    private var consent: Markup {
        tag("p") { text("message") ?? "" }
            + tag("dl") {
                tag("dt") { localized(.consentWith) }
                tag("dd") { text("displayName") ?? text("name") ?? "" }
                tag("dt") { localized(.consentWhat) }
                tag("dd") { texts("fields").joined(separator: ", ") }
                tag("dt") { localized(.consentAccess) }
                tag("dd") { text("accessLevel") ?? "" }
            }
            + check(localized(.agree), isOn: kept != nil, isRequired: callback.output("isRequired")?.bool ?? false)
    }

    private var confirmation: Markup {
        let options = Self.options(texts("options"), type: number("optionType"))
        let defaultValue = number("defaultOption")
        return options.map { label, value in
            tag(
                "button",
                [
                    "type": "submit", "name": id, "value": String(value), "formnovalidate": Markup.flag(options.count > 1),
                    "class": (value == defaultValue || options.count == 1) && facts.waitMessage == nil ? nil : "plain",
                ]
            ) { label }
        }.reduce(.nothing, +)
    }

    /// Returns the labels and values of the buttons.
    ///
    /// The value is the index of the label; without labels, AM's standard labels and constants are used.
    private static func options(_ labels: [String], type: Int) -> [(String, Int)] {
        guard labels.isEmpty else { return labels.enumerated().map { (PageLanguage.current.nodeText($1), $0) } }
        let (yes, no, ok, cancel) = (localized(.yes), localized(.no), localized(.ok), localized(.cancel))
        switch type {
        case 0: return [(yes, 0), (no, 1)]
        case 1: return [(yes, 0), (no, 1), (cancel, 2)]
        case 2: return [(ok, 3), (cancel, 2)]
        default: return [(ok, 3)]
        }
    }

    private var providers: Markup {
        (callback.output("providers")?.array ?? []).compactMap { provider in
            provider["provider"]?.string.map { name in
                let isLocal = name == "localAuthentication"
                let known = provider["uiConfig"]?["buttonDisplayName"]?.string
                return tag(
                    "button",
                    [
                        "type": "submit", "name": id, "value": name, "formnovalidate": Markup.flag(!isLocal),
                        "class": isLocal ? nil : "plain",
                    ]
                ) {
                    known
                        ?? (isLocal
                            ? localized(.continueHere)
                            : localized(.continueWith, ["provider": name.prefix(1).uppercased() + name.dropFirst()]))
                }
            }
        }.reduce(.nothing, +)
    }
}
