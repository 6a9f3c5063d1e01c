import SignetCore

extension WatchModel {
    /// Takes a key.
    ///
    /// After a pause the first key only shows the codes again. A pasted character is never a command, and no key answers a message
    /// that the user has not selected.
    /// - Parameter key: The key.
    /// - Returns: What the caller has to do; nil for nothing but to draw.
    mutating func handle(_ key: WatchKey) -> WatchAction? {
        let wasPaused = isPaused
        noteKey()
        defer { keepSelectionVisible() }
        switch key {
        case .interrupt: return .interrupt
        case .suspend: return .suspend
        case .redraw: return .redraw
        default: break
        }
        guard !wasPaused else { return nil }
        if let question { return answer(question, with: key) }
        if key == .tab {
            changeSection()
            return nil
        }
        switch section {
        case .accounts: return handleInAccounts(key)
        case .messages: return handleInMessages(key)
        }
    }

    private mutating func changeSection() {
        typedNumber = ""
        switch section {
        case .accounts:
            guard let first = contents.messages.first else { return show("No login waits.") }
            (section, selectedID) = (.messages, first.id)
        case .messages: (section, selectedID) = (.accounts, nil)
        }
    }

    // MARK: Accounts

    private mutating func handleInAccounts(_ key: WatchKey) -> WatchAction? {
        let page = max(1, rowCount - 1)
        switch key {
        case .text(let character), .pasted(let character):
            // A space has a meaning only between words.
            if character != " " || !filter.isEmpty { search(filter + String(character)) }
        case .backspace: search(String(filter.dropLast()))
        case .clear: search("")
        case .up: select(selection - 1)
        case .down: select(selection + 1)
        case .pageUp: select(selection - page)
        case .pageDown: select(selection + page)
        case .home: select(0)
        case .end: select(matches.count - 1)
        case .enter: return copySelected()
        case .escape:
            guard filter.isEmpty else {
                search("")
                return nil
            }
            guard answering.isEmpty else {
                show("An answer is being sent. Ctrl-C ends without waiting for it.")
                return nil
            }
            return .end
        default: break
        }
        return nil
    }

    private mutating func copySelected() -> WatchAction? {
        guard let account = selectedAccount else { return nil }
        switch account.content {
        case .locked?:
            show("\(account.title.text) is locked and makes no codes.", isError: true)
            return nil
        case .elsewhere(let owner)?:
            let owner = CellText(owner).text
            show("\(owner) generates the codes of \(account.title.text); 'signet sync take' moves them here.", isError: true)
            return nil
        case .counter?:
            question = .counter(account: account.id)
            return nil
        case .code?, nil: return .copy(account: account.id)
        }
    }

    // MARK: Messages

    private mutating func handleInMessages(_ key: WatchKey) -> WatchAction? {
        guard let message = selectedMessage else { return nil }
        switch key {
        case .up: selectMessage(by: -1)
        case .down: selectMessage(by: 1)
        case .home: selectMessage(by: -contents.messages.count)
        case .end: selectMessage(by: contents.messages.count)
        case .escape:
            guard typedNumber.isEmpty else {
                typedNumber = ""
                return nil
            }
            changeSection()
        case .backspace: typedNumber = String(typedNumber.dropLast())
        case .clear: typedNumber = ""
        case .text(let character): return handle(character, for: message)
        case .enter: return sendNumber(for: message)
        default: break
        }
        return nil
    }

    private mutating func selectMessage(by distance: Int) {
        guard let position = contents.messages.firstIndex(where: { $0.id == selectedID }) else { return }
        let next = max(0, min(position + distance, contents.messages.count - 1))
        (selectedID, typedNumber) = (contents.messages[next].id, "")
    }

    private mutating func handle(_ character: Character, for message: WatchMessage) -> WatchAction? {
        guard !answering.contains(message.id) else {
            show("The answer to this login is being sent.")
            return nil
        }
        switch character {
        case "d", "D":
            typedNumber = ""
            beginAnswer(message.id)
            return .deny(message: message.id)
        case "a", "A":
            switch message.kind {
            case .tap: return approve(message, number: nil)
            case .number: show("Type the number that the login page shows.")
            case .biometric where !asksForPresence: return approve(message, number: nil)
            case .biometric: question = .presence(message: message.id, typed: "")
            }
        case "0"..."9": return type(character, for: message)
        default: break
        }
        return nil
    }

    /// Adds a digit to the number for a message.
    ///
    /// The number is sent as soon as it is one of the message's numbers, unless a longer one begins with it.
    private mutating func type(_ digit: Character, for message: WatchMessage) -> WatchAction? {
        guard case .number(let choices) = message.kind else { return nil }
        let typed = typedNumber + String(digit)
        guard !choices.isEmpty else {
            // Any number that fits is sent with Enter; the server compares it with the one that it shows.
            if typed.count <= 9 { typedNumber = typed }
            return nil
        }
        let possible = Set(choices.filter { String($0).hasPrefix(typed) })
        guard let first = possible.first else {
            show("No number of this login begins with \(typed).", isError: true)
            return nil
        }
        typedNumber = typed
        return possible.count == 1 && String(first) == typed ? approve(message, number: first) : nil
    }

    private mutating func sendNumber(for message: WatchMessage) -> WatchAction? {
        guard case .number(let choices) = message.kind, !answering.contains(message.id), let number = Int(typedNumber) else {
            return nil
        }
        guard choices.isEmpty || choices.contains(number) else {
            show("\(typedNumber) does not belong to this login.", isError: true)
            return nil
        }
        return approve(message, number: number)
    }

    private mutating func approve(_ message: WatchMessage, number: Int?) -> WatchAction {
        typedNumber = ""
        beginAnswer(message.id)
        return .approve(message: message.id, number: number)
    }

    // MARK: Questions

    private mutating func answer(_ question: Question, with key: WatchKey) -> WatchAction? {
        switch question {
        case .counter(let account):
            switch key {
            case .text("y"), .text("Y"):
                self.question = nil
                return .copy(account: account)
            case .text("n"), .text("N"), .escape:
                self.question = nil
                show("No code was used up.")
            default: break
            }
        case .presence(let id, let typed):
            switch key {
            case .text(let character):
                if typed.count < Self.confirmation.count {
                    self.question = .presence(message: id, typed: typed + String(character))
                }
            case .backspace: self.question = .presence(message: id, typed: String(typed.dropLast()))
            case .escape:
                self.question = nil
                show("Not approved.")
            case .enter:
                self.question = nil
                guard typed == Self.confirmation, let message = selectedMessage, message.id == id else {
                    show("Not approved: '\(Self.confirmation)' was not typed.", isError: true)
                    return nil
                }
                return approve(message, number: nil)
            default: break
            }
        }
        return nil
    }

    /// The word that confirms the presence of the user.
    static let confirmation = "yes"
}
