import SignetCore

extension String {
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

    /// True when a space is at an end of the text.
    ///
    /// A login trims the name that was typed, so it does not find a user with such a name.
    var hasOuterSpaces: Bool { first == " " || last == " " }

    /// The text with the characters that ``isSafeName`` forbids as escapes, for example `\u{1B}`.
    var escapedName: String {
        unicodeScalars.map { scalar in
            String(scalar).isSafeName ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }.joined()
    }
}
