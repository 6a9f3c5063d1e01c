import SignetCore

/// The view of a callback that asks for one text or number.
struct FieldView: Sendable {
    let view: CallbackView

    var markup: Markup {
        tag("div", ["class": "field"]) {
            tag("label", ["for": view.id]) { view.shownPrompt }
            void("input", attributes + kind)
            view.errorList
        }
    }

    private var attributes: Markup.Attributes {
        let isWrong = !view.errors.isEmpty
        return [
            "id": view.id, "name": view.id, "required": Markup.flag(isRequired), "autofocus": Markup.flag(view.isFocused),
            "aria-invalid": isWrong ? "true" : nil, "aria-describedby": isWrong ? "\(view.id)-errors" : nil,
        ]
    }

    private var isRequired: Bool {
        switch view.callback.type {
        case "NameCallback", "PasswordCallback", "ValidatedCreateUsernameCallback", "ValidatedCreatePasswordCallback": true
        default: view.callback.output("required")?.bool ?? false
        }
    }

    /// The attributes that help the browser to fill in the field, and the current value.
    private var kind: Markup.Attributes {
        let sent = view.text("value") ?? ""
        let value = sent.isEmpty ? view.kept ?? "" : sent
        if view.asksRecoveryCode { return ["autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"] }
        // A code is valid once, so it is shown while it is typed, also where AM asks for it in a PasswordCallback.
        if view.asksCode { return ["autocomplete": "one-time-code", "inputmode": "numeric", "spellcheck": "false"] }
        switch view.callback.type {
        case "PasswordCallback" where view.asksQuestion: return ["type": "password", "autocomplete": "off"]
        case "PasswordCallback": return ["type": "password", "autocomplete": "current-password"]
        case "ValidatedCreatePasswordCallback": return ["type": "password", "autocomplete": "new-password"]
        case "NameCallback", "ValidatedCreateUsernameCallback":
            return [
                "autocomplete": "username", "autocapitalize": "none", "spellcheck": "false", "value": value.isEmpty ? nil : value,
            ]
        case "TextInputCallback": return ["value": view.kept ?? view.text("defaultText")]
        case "NumberAttributeInputCallback":
            return ["inputmode": "decimal", "value": view.kept ?? view.callback.output("value").map { JSON.text(of: $0) }]
        default:
            let name = view.text("name")
            let completion = ["mail": "email", "givenName": "given-name", "sn": "family-name", "telephoneNumber": "tel"]
            return [
                "type": name == "mail" ? "email" : nil, "autocomplete": name.flatMap { completion[$0] },
                "value": value.isEmpty ? nil : value,
            ]
        }
    }
}

/// The view of a callback that asks for a security question and its answer.
struct QuestionView: Sendable {
    let view: CallbackView

    var markup: Markup {
        let question = name("question")
        let answer = name("answer")
        let questions = (view.callback.output("predefinedQuestions")?.array ?? []).compactMap(\.string)
        let allowsOwn = view.callback.output("allowUserDefinedQuestions")?.bool ?? false
        return tag("fieldset", ["class": "field"]) {
            tag("legend") { view.shownPrompt }
            tag("label", ["for": question]) { localized(allowsOwn ? .questionOrOwn : .question) }
            if allowsOwn {
                void(
                    "input",
                    [
                        "id": question, "name": question, "list": "\(question)-list", "required": "", "autocomplete": "off",
                        "value": view.kept ?? questions.first, "autofocus": Markup.flag(view.isFocused),
                    ])
                tag("datalist", ["id": "\(question)-list"]) { for text in questions { void("option", ["value": text]) } }
            } else {
                tag("select", ["id": question, "name": question, "autofocus": Markup.flag(view.isFocused)]) {
                    for text in questions {
                        tag("option", ["value": text, "selected": Markup.flag(text == view.kept)]) { text }
                    }
                }
            }
            tag("label", ["for": answer]) { localized(.answer) }
            void("input", ["id": answer, "name": answer, "required": "", "autocomplete": "off"])
        }
    }

    private func name(_ ending: String) -> String {
        view.callback.inputIndex(ending).flatMap { view.callback.input?[$0].name } ?? "\(view.id)\(ending)"
    }
}

/// The view of a registration: a QR code for an authenticator on another device, and a link for one on this device.
struct RegistrationView: Sendable {
    let uri: String

    var markup: Markup {
        picture
            + tag("p", ["class": "open"]) { tag("a", ["href": uri, "class": "button plain"]) { localized(.openOnDevice) } }
            + (typedSecret.map { manual($0) } ?? .nothing)
            + tag("details") {
                tag("summary") { localized(.linkAsText) }
                tag("code", ["id": "registration"]) { uri }
            }
    }

    /// The secret for an authenticator without a camera, in groups of four characters; nil for an account without one-time codes.
    private var typedSecret: String? {
        guard uri.hasPrefix("otpauth://"), let query = uri.split(separator: "?", maxSplits: 1).dropFirst().first else {
            return nil
        }
        guard let secret = FormCoding.value(of: "secret", in: query), !secret.isEmpty else { return nil }
        return secret.filter { $0 != "=" }.enumerated().reduce(into: "") { text, character in
            if character.offset > 0, character.offset.isMultiple(of: 4) { text += " " }
            text.append(character.element)
        }
    }

    private func manual(_ secret: String) -> Markup {
        tag("details") {
            tag("summary") { localized(.typeSecret) }
            tag("p") { tag("code", ["id": "secret", "class": "secret"]) { secret } }
            tag("div", ["class": "buttons", "hidden": "", "data-scripted": ""]) {
                PagePart.copyButton("#secret")
            }
            tag("p", ["class": "quiet"]) {
                localized(uri.hasPrefix("otpauth://hotp") ? .codesByCounter : .codesByTime)
            }
        }
    }

    private var picture: Markup {
        do throws(QRCode.TooLong) {
            let code = try QRCode(text: uri)
            return tag("figure", ["class": "code"]) { Self.drawing(of: code) }
        } catch {
            return tag("p", ["class": "note warning", "role": "note"]) {
                localized(.qrCodeTooLong, ["count": String(error.byteCount)])
            }
        }
    }

    /// Returns the drawing of a QR code.
    ///
    /// It is always dark on light, regardless of the colors of the page, because many readers do not recognize inverted codes.
    private static func drawing(of code: QRCode) -> Markup {
        let frame = QRCode.quietZone
        let side = code.side + 2 * frame
        return tag(
            "svg",
            [
                // Whole pixels for each module.
                "viewBox": "0 0 \(side) \(side)", "width": String(side * max(3, 320 / side)), "shape-rendering": "crispEdges",
                "role": "img",
                "aria-label": localized(.qrCode),
            ]
        ) {
            tag("rect", ["width": String(side), "height": String(side), "fill": "#fff"])
            tag("path", ["fill": "#000", "d": code.outline(offset: frame)])
        }
    }
}

/// The view of a callback that the page does not know or cannot process.
///
/// It shows the outputs, and the user can fill in the inputs manually.
struct OtherView: Sendable {
    let view: CallbackView

    var markup: Markup {
        switch view.callback.type {
        case "DeviceBindingCallback", "DeviceSigningVerifierCallback", "AppIntegrityCallback":
            tag("p") { view.text("title") ?? localized(.needsApp) }
                + tag("p", ["class": "quiet"]) { localized(.onlyOnDevice) }
        case "DeviceProfileCallback": tag("p") { view.text("message") ?? "" }
        case "RedirectCallback": redirect
        case "ReCaptchaCallback", "ReCaptchaEnterpriseCallback":
            tag("p", ["class": "quiet"]) {
                localized(.noReCaptcha)
            } + fields
        default: outputs + fields
        }
    }

    private var redirect: Markup {
        guard let address = view.text("redirectUrl"), let origin = CSPSource(address)?.origin else { return outputs }
        return tag("p") { localized(.goesOnElsewhere) }
            + tag("p") {
                tag("a", ["href": address, "class": "button plain", "rel": "noreferrer"]) { origin }
            }
    }

    /// The outputs with their names.
    private var outputs: Markup {
        tag("p", ["class": "quiet"]) { localized(.unknownCallback, ["type": view.callback.type]) }
            + tag("dl") {
                for output in view.callback.output {
                    tag("dt") { output.name }
                    tag("dd") { output.value.string ?? JSON.text(of: output.value) }
                }
            }
    }

    private var fields: Markup {
        tag("div", ["class": "field"]) {
            // Only inputs with simple values are shown. Objects and arrays stay as the server sent them.
            for input in view.callback.input ?? [] where input.value.object == nil && input.value.array == nil {
                tag("label", ["for": input.name]) { input.name }
                void(
                    "input",
                    [
                        "id": input.name, "name": input.name, "autocomplete": "off",
                        "value": input.value.string ?? input.value.lenientInteger.map { String($0) },
                    ])
            }
        }
    }
}
