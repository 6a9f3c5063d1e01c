import SignetCore

extension String {
    /// True when the text is empty or contains only white space, control characters or invisible characters.
    var isBlank: Bool {
        unicodeScalars.allSatisfy { scalar in
            let properties = scalar.properties
            return properties.isWhitespace || properties.isDefaultIgnorableCodePoint || properties.generalCategory == .control
        }
    }

    /// True when the text can be a user name: it has no control characters, no marks that change the text direction and no
    /// invisible characters.
    ///
    /// Such a name could steer a terminal that shows it, forge lines of a log, or look like the name of another user.
    var isSafeName: Bool {
        isSafeToShow
            && unicodeScalars.allSatisfy { scalar in
                !scalar.properties.isDefaultIgnorableCodePoint && scalar.properties.generalCategory != .format
            }
    }

    /// True when the text can be a segment of a path in `/admin`, and a login finds the user with this name.
    ///
    /// It's not empty and has no slash. A login trims the name that was typed, so no space is at an end.
    var isNameOfPath: Bool { !isEmpty && !contains("/") && first != " " && last != " " }

    /// True when an operator can give a user this name, in a file or with `/admin`.
    package var isUserName: Bool { isSafeName && isNameOfPath }

    /// The text with the characters that a user name can't have as escapes, for example `\u{1B}`.
    package var escapedName: String {
        unicodeScalars.map { scalar in
            String(scalar).isSafeName ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }.joined()
    }
}
